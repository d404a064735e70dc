import ArgumentParser
import Foundation
import ServiceEssentials

/// Prints the state of a server that has one of the given keys.
///
/// ```sh
/// status-client https://api.example.com/v1/ --pin sha256/… --pin sha256/…
/// ```
///
/// The exit status is 0 if the server is healthy, 1 if it is not, 2 if the request failed, and 64 for wrong usage.
@main
struct StatusClient: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status-client", abstract: "Prints the state of a server that has one of the given keys.")

    struct Health: Decodable, Sendable {
        var name: String
        var isHealthy: Bool
    }

    @Argument(help: "The base URL of the server.")
    var url: String

    @Option(name: .customLong("pin"), help: "The pin of a public key. Give the current one and a backup.")
    var pins: [String]

    @Option(help: "A file with the certificate of a private authority.")
    var authority: String?

    func run() async throws {
        let health: Health
        do throws(RequestFailure) {
            health = try await requestedHealth()
        } catch {
            let advice = error.remedy.map { "\nTry: \($0)" } ?? ""
            FileHandle.standardError.write(Data("status-client: \(error.message)\(advice)\n".utf8))
            throw ExitCode(2)
        }
        print("\(health.name): \(health.isHealthy ? "healthy" : "not healthy")")
        if !health.isHealthy { throw ExitCode(1) }
    }

    private func requestedHealth() async throws(RequestFailure) -> Health {
        let requests = try HTTPDataRequestService(environment: ConstantEnvironment(url), trust: policy())
        // Only this program's own failures end it before the shutdown, so that connections are closed in both cases.
        do throws(RequestFailure) {
            let health: Health = try await requests.model(of: RequestBuilder(.get, "health").deadline(.seconds(10)))
            await requests.shutdown()
            return health
        } catch {
            await requests.shutdown()
            throw error
        }
    }

    private func policy() throws(RequestFailure) -> TrustPolicy {
        var keys: [Pin] = []
        for pin in pins { keys.append(try .publicKey(pin)) }
        var anchors = TrustAnchors.system
        if let authority { anchors = try .only([PEM(contentsOfFile: authority)]) }
        return try TrustPolicy(pins: keys, anchors: anchors)
    }
}
