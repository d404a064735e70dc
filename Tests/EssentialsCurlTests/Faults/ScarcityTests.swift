import EssentialsCurl
import EssentialsHTTP
import EssentialsTestKit
import FoundationEssentials
import Glibc
import Testing

/// What a process runs out of, each in a process of its own.
@Suite("Without", .serialized)
struct ScarcityTests {
    @Test("a descriptor left a new connection fails, a kept one goes on, and all is well when there are some again")
    func descriptors() async throws {
        await #expect(processExitsWith: .success) {
            let server = try LoopbackServer { .response(body: $0.target) }
            let other = try LoopbackServer { .response(body: $0.target) }
            let transport = try CurlTransport()
            #expect(try await transport.send(request(server, "/before")).text == "/before")
            let trust = try CompiledTrust(.system)
            let limit = try DescriptorLimit()
            try limit.exhaust()
            let refused = await failure { try await transport.send(request(.post, other)) }
            let unnamed = await failure {
                try await transport.send(TransportRequest(.get, RequestURL("http://nobody.invalid/")))
            }
            let kept = await failure { try await transport.send(request(server, "/kept")) }
            let unmade = await failure { try CurlTransport(trust: trust) }
            let unread = await failure { try CompiledTrust(.system) }
            try limit.restore()
            #expect(refused?.reason == .connection, "\(String(describing: refused))")
            #expect(refused?.phase == .connect, "\(String(describing: refused))")
            #expect(unnamed?.reason == .nameResolution, "\(String(describing: unnamed))")
            #expect(kept == nil)
            #expect(unmade?.reason == .connection, "\(String(describing: unmade))")
            #expect(unread?.reason == .file, "\(String(describing: unread))")
            #expect(other.connectionCount == 0)
            #expect(try await transport.send(request(other, "/after")).text == "/after")
            #expect(try await CurlTransport().send(request(server, "/new")).text == "/new")
        }
    }

    @Test(
        "a name server that answers, a name ends by its deadline or by cancelling, and nothing else waits for it",
        .enabled(if: SilentNameServer.isPossible, "needs the right to mount, for a resolv.conf of its own"))
    func nameServer() async throws {
        await #expect(processExitsWith: .success) {
            let server = try LoopbackServer { .response(body: $0.target) }
            let nameServer = try SilentNameServer()
            // The engine's thread, and with it the resolver's, sees what the thread sees that makes it.
            let transport = try nameServer.isolated { try CurlTransport() }
            var sent = TransportRequest(.get, try RequestURL("http://nobody.example/"))
            sent.options.connectTimeout = .milliseconds(300)
            let deadline = sent
            let late = await failure { try await transport.send(deadline) }
            #expect(late?.reason == .timeout, "\(String(describing: late))")
            #expect(late?.phase == .nameResolution, "\(String(describing: late))")
            sent.options.connectTimeout = .seconds(300)
            let endless = sent
            let task = Task { await failure { try await transport.send(endless) } }
            while nameServer.queryCount < 2 { try await Task.sleep(for: .milliseconds(2)) }
            #expect(try await transport.send(request(server, "/meanwhile")).text == "/meanwhile")
            let elapsed = await ContinuousClock().measure {
                task.cancel()
                let found = await task.value
                #expect(found?.reason == .cancelled)
                #expect(found?.phase == .nameResolution)
                await transport.shutdown()
            }
            // The resolver itself gives up after ten seconds.
            #expect(elapsed < .seconds(4), "\(elapsed)")
        }
    }
}

/// This process's limit of open descriptors.
private struct DescriptorLimit {
    struct Failure: Error {
        var code: Int32
    }

    private let before: rlimit

    init() throws {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { throw Failure(code: errno) }
        before = limit
    }

    /// Lowers the limit to the descriptors that are open.
    func exhaust() throws {
        let next = dup(0)
        close(next)
        var lowered = before
        lowered.rlim_cur = rlim_t(next)
        guard setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &lowered) == 0 else { throw Failure(code: errno) }
    }

    func restore() throws {
        var limit = before
        guard setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { throw Failure(code: errno) }
    }
}
