import EssentialsCurl
import EssentialsHTTP
import FoundationEssentials
import Testing

@Suite("A transport's shards")
struct ShardTests {
    /// The number of engine threads in this process.
    private static func engineThreads() throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").filter { thread in
            guard let name = FileManager.default.contents(atPath: "/proc/self/task/\(thread)/comm") else {
                return false
            }
            return String(decoding: name, as: UTF8.self) == "essentials-http\n"
        }.count
    }

    private static func transport(shards: Int) throws -> CurlTransport {
        var configuration = CurlTransport.Configuration()
        configuration.shards = shards
        return try CurlTransport(configuration: configuration)
    }

    @Test("Each shard is a thread that ends with the transport")
    func threads() async throws {
        // The test runs in its own process, where no other test creates transports.
        await #expect(processExitsWith: .success) {
            for shards in [1, 3] {
                let transport = try Self.transport(shards: shards)
                // A thread sets its name before it serves a message.
                #expect(await transport.load.inFlight == 0)
                #expect(try Self.engineThreads() == shards)
                await transport.shutdown()
                #expect(try await eventually { try Self.engineThreads() == 0 })
            }
        }
    }

    @Test("Origins are divided among the shards, and each origin stays with its shard")
    func origins() async throws {
        let transport = try Self.transport(shards: 3)
        let host = try HostName("127.0.0.1")
        // So many origins that no shard stays without one.
        let origins = (1...200).map { Origin(scheme: .http, host: host, port: UInt16($0)) }
        let first = origins.map { ObjectIdentifier(transport.taskExecutor(for: $0)) }
        let again = origins.map { ObjectIdentifier(transport.taskExecutor(for: $0)) }
        #expect(Set(first).count == 3)
        #expect(first == again)
        await transport.shutdown()
    }
}
