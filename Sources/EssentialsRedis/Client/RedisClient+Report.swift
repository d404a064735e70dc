import EssentialsHTTP
public import EssentialsTransport

extension RedisClient {
    /// What a server is, and what it allows.
    public struct Report: Sendable {
        /// The server's name and version, such as `redis 7.0.15`.
        public var software: String
        /// The median time of twenty round trips.
        public var roundTrip: Duration
        /// The commands that the access control list of the user refuses.
        public var refusedCommands: [String]
        /// How many keys the server remembers because clients have read them; `nil` if the user may not see that.
        public var trackedKeys: Int?
    }

    /// Asks the server what it is, and tries each command that the client uses. It writes one key, which it deletes again.
    ///
    /// ```swift
    /// let report = try await redis.report()
    /// print(report.software, report.roundTrip, report.refusedCommands)
    /// ```
    ///
    /// - Throws: Why there is no connection, as ``connect()`` does; `interrupted` if it ends meanwhile.
    public func report() async throws(RequestFailure) -> Report {
        try await connect()
        var times: [Duration] = []
        for _ in 0..<20 {
            let start = ContinuousClock.now
            _ = try await answered([RedisCommand("PING")])
            times.append(.now - start)
        }
        let key = RedisCommand.Argument.text(prefix + "check")
        let tries: [(String, RedisCommand)] = [
            ("set", RedisCommand("SET", key, "1", "PX", "1000")), ("get", RedisCommand("GET", key)),
            ("mget", RedisCommand("MGET", key)), ("pexpire", RedisCommand("PEXPIRE", key, "1000")),
            ("del", RedisCommand("DEL", key)), ("scan", RedisCommand("SCAN", "0", "MATCH", key, "COUNT", "1")),
            ("eval", RedisCommand("EVAL", "return 1", "0")),
            ("evalsha", RedisCommand("EVALSHA", .text(RedisScript.release.hash), "1", key, "")),
        ]
        let replies = try await answered(tries.map(\.1))
        let refused = zip(tries, replies).compactMap { attempt, reply in
            if case .failure(.refused(let error)) = reply, error.code == "NOPERM" { attempt.0 } else { nil }
        }
        let info = try? await answered([RedisCommand("INFO", "stats")]).first?.get()
        return Report(
            software: server ?? "", roundTrip: times.sorted()[times.count / 2], refusedCommands: refused,
            trackedKeys: Self.trackedKeys(in: info))
    }

    /// The replies to commands that write.
    private func answered(_ commands: [RedisCommand]) async throws(RequestFailure) -> [RedisConnection.Reply] {
        let replies = await write(commands)
        for case .failure(let failure) in replies {
            if case .refused = failure { continue }
            throw RedisFailures.unanswered(failure)
        }
        return replies
    }

    private static func trackedKeys(in info: RESPValue?) -> Int? {
        guard case .bytes(let bytes) = info else { return nil }
        let lines = String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline)
        return lines.first { $0.hasPrefix("tracking_total_keys:") }.flatMap { Int($0.drop { $0 != ":" }.dropFirst()) }
    }
}
