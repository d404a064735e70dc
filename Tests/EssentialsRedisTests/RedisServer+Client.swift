import EssentialsCurl
import EssentialsTransport
import TestTools
import Testing

@testable import EssentialsRedis

extension RedisServer {
    /// A client of the server, with time for slow machines unless a test says otherwise.
    func client(
        _ application: String = "test", _ url: String? = nil, over links: (any LinkOpening)? = nil,
        configure: (inout RedisClient.Configuration) -> Void = { _ in }
    ) throws -> RedisClient {
        var configuration = RedisClient.Configuration()
        configuration.timeLimit = .seconds(30)
        configure(&configuration)
        return try RedisClient(
            url ?? self.url, application: application, over: links ?? CurlTransport(trust: .system),
            configuration: configuration)
    }

    /// Runs a command through a connection of its own, as another program would.
    @discardableResult
    func run(_ arguments: String...) async throws -> RESPValue { try await run(arguments) }

    @discardableResult
    func run(_ arguments: [String]) async throws -> RESPValue {
        let client = try client("other")
        defer { client.close() }
        return try await client.write([RedisCommand(arguments.map { .text($0) })])[0].get()
    }
}
