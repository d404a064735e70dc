internal import EssentialsCurl
internal import EssentialsRequests
internal import EssentialsTestKit
internal import Figures
internal import FoundationEssentials
internal import Glibc
internal import Synchronization
internal import ThreadCounters

/// Bodies that are streamed from a real server, with and without a cache that stores them.
enum StreamCost {
    /// The pace of bodies for files in bytes a second, 2 Gbit/s. A reader who is faster than the disk does not wait for it: the
    /// body is not stored.
    private static let pace = 250_000_000

    static func measure(isSmoke: Bool) async throws -> [Row] {
        let server = try LoopbackServer(handler: respond)
        let transport = try CurlTransport()
        let plain = try HTTPDataRequestService.measured(over: transport, nil, at: server.url)
        var rows = try await memory(plain, transport, server, count: isSmoke ? 20 : 1_000)
        rows += try await files(plain, transport, server, size: isSmoke ? 64 << 20 : 1 << 30)
        await plain.shutdown()
        server.stop()
        return rows
    }

    /// A body whose size is the first part of the path, at a pace if the second part is `paced`. The server does not have it in
    /// memory as a whole.
    private static func respond(_ request: ServerRequest) -> ServerReply {
        let parts = request.path.split(separator: "/")
        let size = parts.first.flatMap { Int($0) } ?? 0
        let head = "HTTP/1.1 200 OK\r\nCache-Control: \(longLifetime)\r\nContent-Length: \(size)\r\n\r\n"
        let piece = [UInt8](repeating: UInt8(ascii: "x"), count: 1 << 20)
        let (count, start) = (size / piece.count, monotonic_nanoseconds())
        guard parts.contains("paced") else {
            return .raw([.send([UInt8](head.utf8)), .repeatSend(piece, count: count), .keepAlive])
        }
        let sent = Mutex(0)
        let next = { @Sendable () -> [UInt8]? in
            let number = sent.withLock { sent in
                sent += 1
                return sent
            }
            guard number <= count else { return nil }
            let due = start + UInt64(number * piece.count) * 1_000_000_000 / UInt64(pace)
            let now = monotonic_nanoseconds()
            if due > now { usleep(UInt32((due - now) / 1_000)) }
            return piece
        }
        return .raw([.send([UInt8](head.utf8)), .sendWhile(next), .keepAlive])
    }

    /// Bodies that are about as large as those that the memory takes by default.
    private static func memory(
        _ plain: HTTPDataRequestService, _ transport: CurlTransport, _ server: LoopbackServer, count: Int
    ) async throws -> [Row] {
        let size = 1 << 20
        let cached = try HTTPDataRequestService.measured(
            over: transport, ResponseCache(memory: .bytes(32 * size)), at: server.url)
        var (without, with): ([Double], [Double]) = ([], [])
        for number in 0..<count {
            without.append(try await time(plain, "\(size)/\(number)"))
            with.append(try await time(cached, "\(size)/\(number)"))
        }
        let before = server.requestCount
        let hit = try await time(cached, "\(size)/\(count - 1)")
        guard server.requestCount == before else { throw BenchmarkError("the last body was not stored") }
        return [
            Row(
                what: "1 MiB streamed and stored in memory: throughput", value: median(without) / median(with),
                unit: "x without", digits: 2, goal: .atLeast(0.9)),
            Row(what: "    the same as a hit", value: Double(size) / hit / 1e3, unit: "GB/s", digits: 2),
        ]
    }

    /// A body that is far too large for the memory.
    private static func files(
        _ plain: HTTPDataRequestService, _ transport: CurlTransport, _ server: LoopbackServer, size: Int
    ) async throws -> [Row] {
        let path = FileManager.default.temporaryDirectory.path + "/bench-cache-\(UInt64.random(in: 1 ... .max))"
        defer { try? FileManager.default.removeItem(atPath: path) }
        let cache = try ResponseCache(disk: .directory(path, bytes: 10 * size))
        let cached = try HTTPDataRequestService.measured(over: transport, cache, at: server.url)
        var (without, with): ([Double], [Double]) = ([], [])
        var grown = 0
        for number in 0..<3 {
            without.append(try await time(plain, "\(size)/paced/\(number)"))
            ResidentMemory.forgetPeak()
            let before = ResidentMemory.now
            with.append(try await time(cached, "\(size)/paced/\(number)"))
            grown = max(grown, ResidentMemory.peak - before)
            await cache.flush()
        }
        let stored = await cache.usage.externalBytes / size
        let before = server.requestCount
        let hit = try await time(cached, "\(size)/paced/0")
        guard server.requestCount == before || stored < 3 else { throw BenchmarkError("a stored body was not served") }
        return [
            Row(
                what: "\(size >> 20) MiB at 2 Gbit/s, streamed and stored in files: throughput",
                value: median(without) / median(with), unit: "x without", digits: 2, goal: .atLeast(0.9)),
            Row(what: "    stored of three", value: Double(stored), unit: "", digits: 0, goal: .atLeast(3)),
            Row(
                what: "    memory beside the body", value: Double(grown) / Double(1 << 20), unit: "MiB", digits: 1,
                goal: .atMost(16), isJudged: true),
            Row(what: "    the same as a hit", value: Double(size) / hit / 1e3, unit: "GB/s", digits: 2),
        ]
    }

    /// Microseconds for a body.
    private static func time(_ service: HTTPDataRequestService, _ path: String) async throws -> Double {
        var request = DataRequest(.get, path)
        request.options.delivery = .streamed
        request.options.trust = nil
        let start = monotonic_nanoseconds()
        for try await piece in try await service.send(request).body { _ = piece.count }
        return Double(monotonic_nanoseconds() - start) / 1_000
    }
}
