import CEssentialsTest
import EssentialsCurl
import EssentialsHTTP
import EssentialsTestKit
import FoundationEssentials
import Testing

@Suite("A process on one processor")
struct OneProcessorTests {
    /// Confines all threads of this process, and threads that they start later, to one processor.
    private static func keepToOneProcessor() throws {
        var kept: Set<String> = []
        while true {
            // A thread that was not confined yet may have started another one.
            let new = try Set(FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")).subtracting(kept)
            if new.isEmpty { return }
            for thread in new { #expect(cet_thread_pin(try #require(Int32(thread)))) }
            kept.formUnion(new)
        }
    }

    @Test("A process on one processor serves single, concurrent and cancelled requests")
    func requests() async throws {
        // The test runs in its own process, because it confines all threads to one processor.
        await #expect(processExitsWith: .success) {
            try Self.keepToOneProcessor()
            let server = try LoopbackServer { request in
                request.path == "/hang" ? .hang : .response(body: request.path)
            }
            let transport = try CurlTransport()
            for number in 0..<50 {
                let sent = try request(server, "/\(number)")
                #expect(try await transport.send(sent).text == "/\(number)")
            }
            let hanging = try request(server, "/hang")
            let cancelled = Task { await failure { try await transport.send(hanging) } }
            try await withThrowingTaskGroup { group in
                for task in 0..<40 {
                    group.addTask {
                        for number in 0..<10 {
                            let path = "/\(task).\(number)"
                            let sent = try request(server, path)
                            #expect(try await transport.send(sent).text == path)
                        }
                    }
                }
                try await group.waitForAll()
            }
            cancelled.cancel()
            #expect(await cancelled.value?.reason == .cancelled)
            #expect(await transport.load.inFlight == 0)
            #expect(server.requests.filter { $0.path != "/hang" }.count == 450)
            await transport.shutdown()
        }
    }
}
