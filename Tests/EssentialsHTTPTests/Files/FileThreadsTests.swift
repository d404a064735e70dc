import EssentialsHTTP
import EssentialsStorage
import EssentialsTools
import FoundationEssentials
import Glibc
import TestTools
import Testing

@Suite struct FileThreadsTests {
    /// The threads of this process with a name.
    private func fileThreads() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").filter { thread in
            guard let name = FileManager.default.contents(atPath: "/proc/self/task/\(thread)/comm") else {
                return false
            }
            return String(decoding: name, as: UTF8.self) == "essentials-file\n"
        }
    }

    private func blockedSignals(of thread: String) throws -> UInt64 {
        let status = try #require(FileManager.default.contents(atPath: "/proc/self/task/\(thread)/status"))
        let line = try #require(
            String(decoding: status, as: UTF8.self).split(separator: "\n").first { $0.hasPrefix("SigBlk:") })
        return try #require(UInt64(line.dropFirst(7).drop { $0 == "\t" }, radix: 16))
    }

    @Test("File work uses at most four named threads, whose signals are blocked")
    func bounded() async throws {
        let directory = try ScratchDirectory()
        let content = Data(count: 500_000)
        try content.write(to: URL(filePath: directory("film")))
        let body = try RequestBody.file(directory("film"))
        await withTaskGroup(of: Int.self) { group in
            for _ in 0..<50 {
                group.addTask {
                    guard case .stream(_, _, let open) = body.content else { return 0 }
                    let next = open()
                    var count = 0
                    while let piece = try? await next() { count += piece.count }
                    return count
                }
            }
            for await count in group { #expect(count == 500_000) }
        }
        let threads = try fileThreads()
        #expect((1...4).contains(threads.count))
        for thread in threads {
            let blocked = try blockedSignals(of: thread)
            for signal in [SIGPIPE, SIGTERM, SIGINT, SIGXFSZ, SIGCHLD] {
                #expect(blocked & (1 << UInt64(signal - 1)) != 0)
            }
            for signal in [SIGSEGV, SIGBUS, SIGABRT] { #expect(blocked & (1 << UInt64(signal - 1)) == 0) }
        }
    }

    @Test("A blocked disk delays neither other files nor other tasks")
    func standstill() async throws {
        let directory = try ScratchDirectory()
        let isHeld = Mutex(false)
        let isReleased = Mutex(false)
        var calls = FileCalls.system
        let write = calls.write
        calls.write = { descriptor, bytes in
            isHeld.withLock { $0 = true }
            while !isReleased.withLock({ $0 }) { usleep(1000) }
            return write(descriptor, bytes)
        }
        let slowCalls = calls
        let slow = Task {
            let transport = ScriptedTransport(ScriptedTransport.Response(200, [:], ["slow"]))
            return try await FileDownload.run(
                .film(), to: directory("slow"), options: DownloadOptions(), progress: nil, calls: slowCalls
            ) { request throws(RequestFailure) in try await transport.send(request) }
        }
        while !isHeld.withLock({ $0 }) { await Task.yield() }
        for number in 0..<8 {
            let transport = ScriptedTransport(ScriptedTransport.Response(200, [:], ["fast"]))
            _ = try await transport.download(.film(), to: directory("fast\(number)"))
        }
        isReleased.withLock { $0 = true }
        #expect(try await slow.value.bytes == 4)
    }
}
