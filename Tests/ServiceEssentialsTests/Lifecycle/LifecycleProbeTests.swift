#if Persistence && (Server || Inspector)
    import EssentialsTestKit
    import EssentialsTools
    import TestTools
    import Testing

    /// A process with slow, queued and streamed requests and a scope that is not saved, which signals end.
    @Suite("A server that signals end", .timeLimit(.minutes(5)))
    struct LifecycleProbeTests {
        private struct Run: Sendable {
            var lines: [String] = []
            var code: Int32 = 0
            var time = Duration.zero

            /// Whether two requests run and two wait in line.
            var isWaiting: Bool { lines.contains("waiting") && lines.contains("begun") }

            /// The services that were closed, in their order.
            var closings: [String] { lines.filter { $0.hasSuffix("is closed") } }
        }

        /// Runs the program until it ends.
        ///
        /// - Parameters:
        ///   - signals: They are sent one after the other: the first one when the requests run, further ones when the program
        ///     has begun to end.
        ///   - answers: Opened when the program has begun to end, so that the server answers.
        private func run(_ grace: Double, _ signals: [Int32], answers: LoopbackGate? = nil) async throws -> Run {
            let gate = answers ?? LoopbackGate()
            let server = try LoopbackServer { request in
                switch request.path {
                case "/stream":
                    return .raw([
                        .send(Array("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n6\r\nbegun\n\r\n".utf8)),
                        .hang,
                    ])
                case "/slow":
                    return .raw([
                        .gate(gate), .send(Array("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n".utf8)), .keepAlive,
                    ])
                case "/endless": return .hang
                default: return .response(status: 204)
                }
            }
            defer { server.stop() }
            let folder = TestFolder()
            return try await ChildProcess.onThread {
                let probe = try ChildProcess("LifecycleProbe", [server.url, folder.path + "/store.sqlite", "\(grace)"])
                var run = Run()
                while !run.isWaiting, let line = probe.line() { run.lines.append(line) }
                let start = ContinuousClock.now
                for (index, signal) in signals.enumerated() {
                    if index > 0 {
                        while run.lines.last != "ending", let line = probe.line() { run.lines.append(line) }
                    }
                    probe.send(signal: signal)
                }
                while let line = probe.line() {
                    run.lines.append(line)
                    if line == "ending" { answers?.open() }
                }
                run.code = probe.wait()
                run.time = ContinuousClock.now - start
                return run
            }
        }

        @Test("SIGTERM lets whole responses finish, also one that waits in line, and cancels a stream at once")
        func finishing() async throws {
            let run = try await run(30, [SIGTERM], answers: LoopbackGate())
            #expect(run.code == 0 && run.time < .seconds(20), "\(run)")
            // The last service ends first: the work, then the session with its scope.
            let ends = run.lines.filter { ["work ended", "session loses 1", "ending"].contains($0) }
            #expect(ends == ["work ended", "session loses 1", "ending"], "\(run)")
            let outcomes: Set = ["ending", "late closed", "stream cancelled", "slow 200", "queued 204"]
            #expect(outcomes.isSubset(of: run.lines), "\(run)")
            #expect(run.closings == ["late service is closed", "early service is closed", "store is closed"], "\(run)")
            #expect(run.lines.last == "ended" && run.lines.count == 13, "\(run)")
        }

        @Test("What does not finish within the grace period is cancelled")
        func late() async throws {
            let run = try await run(0.3, [SIGTERM])
            #expect(run.code == 0 && run.time >= .seconds(0.3) && run.time < .seconds(20), "\(run)")
            #expect(run.lines.contains("slow cancelled") && run.lines.contains("stream cancelled"), "\(run)")
            #expect(run.closings.last == "store is closed" && run.lines.last == "ended", "\(run)")
        }

        @Test("A cancelled group has no grace period", arguments: [[SIGQUIT], [SIGTERM, SIGQUIT]])
        func cancelled(signals: [Int32]) async throws {
            let run = try await run(600, signals)
            #expect(run.code == 0 && run.time < .seconds(20), "\(run)")
            #expect(run.lines.contains("slow cancelled") && run.lines.contains("session loses 1"), "\(run)")
            #expect(run.closings.last == "store is closed" && run.lines.last == "ended", "\(run)")
        }
    }
#endif
