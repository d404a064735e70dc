import EssentialsTestKit
import FoundationEssentials
import Glibc
import ServiceEssentials
import Testing

extension ToolTests {
    /// Files that this process shares with another one.
    @Suite("Tool: files of two processes")
    struct SharedFileTests {
        private let directory: TemporaryDirectory
        private let path: String
        private let url: RequestURL

        init() throws {
            directory = try TemporaryDirectory()
            path = directory.path + "/shared"
            url = try RequestURL("http://shared.example/")
        }

        private func values(_ jar: CookieJar) -> [String] {
            jar.cookies(includingHTTPOnly: true).map { "\($0.name)=\($0.value)" }.sorted()
        }

        /// Starts a command that holds the lock of a file, and returns when it has it.
        private func lock(_ file: String, _ command: String...) async throws -> ToolProcess {
            // Without a fork, the lock ends with the process that this test knows.
            let holder = try ToolProcess(["--no-fork", file] + command, program: "/usr/bin/flock")
            while !isLocked(file) { await Task.yield() }
            return holder
        }

        private func isLocked(_ file: String) -> Bool {
            let descriptor = open(file, O_RDWR | O_CLOEXEC)
            defer { close(descriptor) }
            return descriptor >= 0 && flock(descriptor, LOCK_EX | LOCK_NB) != 0
        }

        private static let hasLocks = access("/usr/bin/flock", X_OK) == 0

        // MARK: Cookies

        @Test("Two processes that change a cookie file while both have it keep the changes of each other")
        func cookies() async throws {
            let gate = LoopbackGate()
            let server = try LoopbackServer { request in
                request.path == "/held"
                    ? .raw([.gate(gate), .text("HTTP/1.1 200 OK\r\nSet-Cookie: held=3\r\nContent-Length: 0\r\n\r\n")])
                    : .response(headers: [("Set-Cookie", "tool=1")])
            }
            let jar = try CookieJar(file: CookieFile(path))
            // The tool reads the file before this process writes it, and writes it after that.
            let slow = try ToolProcess(["get", server.url + "/held", "--cookie-jar", path])
            while server.requestCount == 0 { await Task.yield() }
            // The tool changes the file between two changes of this process.
            jar.store("first=1; Max-Age=600", from: url)
            try await jar.flush()
            #expect(try await tool("get", server.url + "/", "--cookie-jar", path).code == 0)
            jar.store("second=2; Max-Age=600", from: url)
            try await jar.flush()
            gate.open()
            #expect(await slow.end().code == 0)
            let all = ["first=1", "held=3", "second=2", "tool=1"]
            #expect(values(try CookieJar(file: CookieFile(path))) == all)
            // The next save reads what the other process has changed.
            jar.store("third=3; Max-Age=600", from: url)
            try await jar.flush()
            #expect(values(jar) == (all + ["third=3"]).sorted())
        }

        @Test(
            "A shutdown waits five seconds for the lock of a cookie file, and says what was not saved",
            .enabled(if: hasLocks, "flock(1) is missing."))
        func lockedCookies() async throws {
            let clock = ManualClock()
            let jar = try CookieJar(file: CookieFile(path), clock: clock.requestClock)
            jar.store("a=1; Max-Age=600", from: url)
            try await jar.flush()
            let holder = try await lock(path, "sleep", "600")
            jar.store("b=2; Max-Age=600", from: url)
            jar.store("c=3; Max-Age=600", from: url)
            var configuration = HTTPDataRequestService.Configuration()
            configuration.cookies = jar
            let service = HTTPDataRequestService(
                environment: try ConstantEnvironment("http://shared.example/"), transport: ScriptedTransport(),
                configuration: configuration)
            let advancing = Task {
                while !Task.isCancelled {
                    await clock.waitForSleepers(count: 1)
                    clock.advanceToNextDeadline()
                }
            }
            // The changes have caused a save too.
            while jar.saveFailure == nil { await Task.yield() }
            let start = clock.now
            await service.shutdown()
            #expect(start.duration(to: clock.now) == .seconds(5))
            #expect(jar.saveFailure?.reason == .file)
            #expect(jar.saveFailure?.message.contains("2 changed cookies are not saved") == true)
            holder.signal(SIGKILL)
            _ = await holder.end()
            try await jar.flush()
            advancing.cancel()
            #expect(jar.saveFailure == nil)
            let saved = try CookieJar(file: CookieFile(path), clock: clock.requestClock)
            #expect(values(saved) == ["a=1", "b=2", "c=3"])
        }

        // MARK: Tokens

        @Test(
            "An update of a token file waits for another process, and gets the tokens that it has stored",
            .enabled(if: hasLocks, "flock(1) is missing."))
        func tokens() async throws {
            let store = try FileTokenStore(path)
            try await store.update { _ in StoredTokens(accessToken: "old", refreshToken: "r1") }
            let other = try FileTokenStore(path + ".new")
            try await other.update { _ in StoredTokens(accessToken: "other", refreshToken: "r2") }
            // The other process has the lock, and stores its tokens when it is told to.
            let go = directory.path + "/go"
            try #require(mkfifo(go, 0o600) == 0)
            let holder = try await lock(
                path + ".lock", "sh", "-c", "read line <\(go); mv \(path).new \(path)")
            let update = Task {
                try await store.update { old in
                    StoredTokens(accessToken: "mine after \(old?.accessToken ?? "-")", refreshToken: old?.refreshToken)
                }
            }
            for _ in 0..<1_000 { await Task.yield() }
            let pipe = open(go, O_WRONLY | O_CLOEXEC)
            #expect(write(pipe, "go\n", 3) == 3)
            close(pipe)
            #expect(await holder.end().code == 0)
            let stored = try await update.value
            #expect(stored?.accessToken == "mine after other")
            #expect(stored?.refreshToken == "r2")
            #expect(try await FileTokenStore(path).update { $0 } == stored)
        }
    }
}
