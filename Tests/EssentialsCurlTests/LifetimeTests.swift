import EssentialsHTTP
import EssentialsTestKit
import FoundationEssentials
import Glibc
import Testing

@testable import EssentialsCurl

@Suite("A transport's life")
struct LifetimeTests {
    @Test("A child program inherits no descriptor, not even one of libcurl")
    func exec() async throws {
        // The test runs in its own process, where no other test opens descriptors.
        await #expect(processExitsWith: .success) {
            let before = try Self.inherited()
            let authority = try Authority()
            let server = try authority.server { _ in .response(body: "ok") }
            let transport = try CurlTransport(trust: TrustPolicy(anchors: authority.anchors))
            _ = try await transport.send(TransportRequest(.get, RequestURL(server.url)))
            let left = try Self.inherited().subtracting(before)
            // The pipe is the one through which this is read.
            #expect(left.allSatisfy { $0.hasPrefix("pipe:") }, "\(left)")
            await transport.shutdown()
        }
    }

    @Test("A transport may still be ending when the process ends")
    func exit() async throws {
        for _ in 0..<5 {
            await #expect(processExitsWith: .success) {
                let authority = try Authority()
                let server = try authority.server { _ in .response(body: "ok") }
                for _ in 0..<10 {
                    let transport = try CurlTransport(trust: TrustPolicy(anchors: authority.anchors))
                    let response = try await transport.send(TransportRequest(.get, RequestURL(server.url)))
                    #expect(response.text == "ok")
                    // Dropped without a shutdown: their threads end while the process does.
                }
            }
        }
    }

    @Test("In a forked child a transport is closed, and the parent's transport still works")
    func fork() async throws {
        // The test runs in its own process, because a child waits forever for a lock that another test's thread held.
        await #expect(processExitsWith: .success) {
            let server = try LoopbackServer { _ in .response(body: "ok") }
            let transport = try CurlTransport()
            let sent = TransportRequest(.get, try RequestURL(server.url))
            #expect(try await transport.send(sent).text == "ok")
            let trust = try CompiledTrust(.system)
            let code = try Self.inChild {
                guard Self.reason(of: transport, sent) == "closed" else { return 1 }
                // The tasks of a new transport would never run.
                return Self.reasonToMake(trust) == "closed" ? 0 : 2
            }
            #expect(code == 0)
            #expect(try await transport.send(sent).text == "ok")
            await transport.shutdown()
        }
    }

    @Test("The shared transport is kept until it is shut down, and then created again")
    func shared() async throws {
        let first = try CurlTransport.shared()
        #expect(try CurlTransport.shared() === first)
        await first.shutdown()
        let second = try CurlTransport.shared()
        #expect(second !== first)
        let server = try LoopbackServer { _ in .response(body: "ok") }
        #expect(try await second.send(request(server)).text == "ok")
    }

    @Test("Tasks run on the executor of a transport before and after its shutdown")
    func executor() async throws {
        let server = try LoopbackServer { _ in .response(body: "ok") }
        let transport = try CurlTransport()
        let sent = try request(server)
        let executor = transport.taskExecutor(for: sent.url.origin)
        try await withTaskExecutorPreference(executor) {
            let name = Self.threadName()
            #expect(name == "essentials-http")
            for _ in 0..<20 {
                let text = try await transport.send(sent).text
                #expect(text == "ok" && Self.threadName() == name)
            }
            await transport.shutdown()
            #expect(Self.threadName() != name)
            #expect(await failure { try await transport.send(sent) }?.reason == .closed)
        }
        #expect(server.connectionCount == 1)
    }

    @Test("A task that computes on the engine's thread does not shorten the next request's deadline")
    func executorTime() async throws {
        let server = try LoopbackServer { _ in .response(body: "ok") }
        let transport = try CurlTransport()
        var sent = try request(server)
        sent.options.connectTimeout = .milliseconds(600)
        let executor = transport.taskExecutor(for: sent.url.origin)
        // While the first task occupies the thread, the second task and the request stay in its mailbox, in this order.
        let first = Task(executorPreference: executor) { usleep(200_000) }
        try await Task.sleep(for: .milliseconds(50))
        let second = Task(executorPreference: executor) { usleep(900_000) }
        #expect(try await transport.send(sent).text == "ok")
        #expect(await first.value == 0)
        #expect(await second.value == 0)
        await transport.shutdown()
    }

    @Test("Many tasks on the engine's thread end once each, by cancellation or with a response")
    func executorCancellation() async throws {
        let server = try LoopbackServer { request in request.path == "/hang" ? .hang : .response(body: "ok") }
        let transport = try CurlTransport()
        let (quick, hanging) = (try request(server), try request(server, "/hang"))
        let executor = transport.taskExecutor(for: quick.url.origin)
        let tasks = (0..<60).map { number in
            Task(executorPreference: executor) { () -> RequestFailure.Reason? in
                await failure { try await transport.send(number % 2 == 0 ? quick : hanging) }?.reason
            }
        }
        for number in stride(from: 0, to: 60, by: 2) { #expect(await tasks[number].value == nil) }
        for number in stride(from: 1, to: 60, by: 2) { tasks[number].cancel() }
        for number in stride(from: 1, to: 60, by: 2) { #expect(await tasks[number].value == .cancelled) }
        await transport.shutdown()
    }

    @Test("A SHA-256 checksum matches the standard's vectors for pieces of any size")
    func digest() throws {
        let vectors = [
            ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
            ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
            (
                "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
                "248D6A61D20638B8E5C026930C3E6039A33CE45964FF2167F6ECEDD419DB06C1"
            ),
        ]
        for (text, hexadecimal) in vectors {
            let checksum = try Checksum.sha256(hexadecimal)
            for size in [1, 7, 100] {
                let digest = checksum.makeHash()
                let bytes = Array(text.utf8)
                for start in stride(from: 0, to: bytes.count, by: size) {
                    bytes[start..<min(start + size, bytes.count)].withUnsafeBytes { digest.update($0) }
                }
                #expect(digest.finish() == checksum.expected)
            }
        }
        for text in ["", "abc", String(repeating: "g", count: 64), String(repeating: "+1", count: 32)] {
            #expect(throws: RequestFailure.self) { try Checksum.sha256(text) }
        }
    }

    // MARK: Processes

    /// The targets of the descriptors of a program that this process runs, except the directory that it lists.
    private static func inherited() throws -> Set<String> {
        let lines = try output(of: "/bin/ls", ["ls", "-l", "/proc/self/fd"]).split(separator: "\n")
        return Set(
            lines.compactMap { $0.split(separator: " -> ").last.map(String.init) }.filter { !$0.hasSuffix("/fd") })
    }

    /// The failure of a send before it reaches the engine. It is computed synchronously, because in a forked child the
    /// task pool has no threads.
    private static func reason(of transport: CurlTransport, _ request: TransportRequest) -> String {
        do throws(RequestFailure) {
            _ = try transport.prepare(request)
            return "none"
        } catch {
            return error.reason.name
        }
    }

    /// The failure of creating a transport.
    private static func reasonToMake(_ trust: CompiledTrust) -> String {
        do throws(RequestFailure) {
            _ = try CurlTransport(trust: trust)
            return "none"
        } catch {
            return error.reason.name
        }
    }

    private static func inChild(_ body: () -> Int32) throws -> Int32 {
        let process = forkProcess()
        if process == 0 { _exit(body()) }
        var status: Int32 = 0
        waitpid(process, &status, 0)
        return status
    }

    /// fork(2), which Swift does not import because most of a program does not survive it.
    private static func forkProcess() -> pid_t {
        typealias Fork = @convention(c) () -> pid_t
        guard let symbol = dlsym(nil, "fork") else { return -1 }
        return unsafeBitCast(symbol, to: Fork.self)()
    }

    private static func threadName() -> String {
        var name = [CChar](repeating: 0, count: 64)
        let file = open("/proc/thread-self/comm", O_RDONLY | O_CLOEXEC)
        defer { close(file) }
        guard read(file, &name, name.count - 1) > 1 else { return "" }
        return String(decoding: name.prefix { $0 > 0x0a }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    private static func output(of program: String, _ arguments: [String]) throws -> String {
        var ends: [Int32] = [0, 0]
        try #require(pipe(&ends) == 0)
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        defer { close(ends[0]) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, ends[1], 1)
        var words: [UnsafeMutablePointer<CChar>?] = arguments.map { strdup($0) } + [nil]
        defer { for word in words { free(word) } }
        var process = pid_t()
        let status = posix_spawn(&process, program, &actions, nil, &words, environ)
        close(ends[1])
        try #require(status == 0)
        var bytes = [UInt8](repeating: 0, count: 65_536)
        var count = 0
        while count < bytes.count {
            let got = bytes.withUnsafeMutableBytes { read(ends[0], $0.baseAddress! + count, $0.count - count) }
            if got <= 0 { break }
            count += got
        }
        waitpid(process, nil, 0)
        return String(decoding: bytes[..<count], as: UTF8.self)
    }
}
