internal import Foundation
internal import FoundationNetworking
internal import Glibc
internal import LoadDriver

/// The load client for FoundationNetworking: `URLSession.data(from:)` with the default configuration.
@main
struct URLSessionClient {
    static func main() async {
        let options = ClientOptions.fromCommandLine()
        if let file = options.bundleFile ?? options.caFile, options.url.hasPrefix("https:") {
            PrivateTrust.replaceBundle(with: file)
        }
        do {
            exit(try await run(options))
        } catch {
            FileHandle.standardError.write(Data("\(error)\n".utf8))
            exit(2)
        }
    }

    private static func run(_ options: ClientOptions) async throws -> Int32 {
        guard let url = URL(string: options.url) else { throw URLError(.badURL) }
        let session = URLSession(configuration: .default)
        defer { session.finishTasksAndInvalidate() }
        let wireProtocol = try await wireProtocol(of: session, url: url)
        return await LoadDriver(client: "bench-urlsession", options: options).run {
            let (body, response) = try await session.data(from: url)
            return Reply(
                status: (response as? HTTPURLResponse)?.statusCode ?? 0, bodyLength: body.count,
                wireProtocol: wireProtocol)
        }
    }

    /// The protocol as reported by the server, because a response of URLSession does not contain it.
    private static func wireProtocol(of session: URLSession, url: URL) async throws -> Reply.WireProtocol {
        guard let probe = URL(string: "/protocol", relativeTo: url) else { throw URLError(.badURL) }
        let (name, _) = try await session.data(from: probe)
        return name == Data("HTTP/2.0".utf8) ? .http2 : .http1
    }
}
