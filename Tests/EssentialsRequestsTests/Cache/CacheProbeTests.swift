import EssentialsHTTP
import EssentialsTestKit
import EssentialsTools
import Foundation
import TestTools
import Testing

/// The client that a suite of tests for HTTP caches drives, against a real server.
@Suite("The client for suites of cache tests", .timeLimit(.minutes(5)))
struct CacheProbeTests {
    private struct Answer: Decodable {
        var id: Int
        var error: String?
        var status: Int?
        var headers: [[String]]?
        var body: Data?
        var cacheStatus: String?

        var text: String { String(decoding: body ?? Data(), as: UTF8.self) }
    }

    @Test("Each line of JSON is answered: stored responses, cache modes, redirects, failures and cancelled requests")
    func lines() async throws {
        let server = try LoopbackServer { request in
            switch request.path {
            case "/slow": .hang
            case "/moved": .response(status: 302, headers: [("Location", "/a")])
            default:
                .response(
                    headers: [("Cache-Control", "max-age=60")],
                    body: "\(request.method) \(String(decoding: request.body, as: UTF8.self))")
            }
        }
        let base = server.url
        let answers = try await ChildProcess.onThread {
            let probe = try ChildProcess("CacheProbe", [base])
            func answer(_ id: Int, _ line: String) throws -> Answer {
                let reply = try #require(probe.reply(to: #"{"id":\#(id),\#(line)}"#))
                return try JSONDecoder().decode(Answer.self, from: Data(reply.utf8))
            }
            var answers = [
                try answer(1, #""url":"\#(base)/a""#), try answer(2, #""url":"\#(base)/a","headers":[["X-A","b"]]"#),
                try answer(3, #""url":"\#(base)/a","cache":"reload""#),
                try answer(4, #""url":"\#(base)/b","cache":"only-if-cached""#),
                try answer(5, #""url":"\#(base)/moved","redirect":"manual""#),
                try answer(6, #""url":"\#(base)/moved","redirect":"error""#),
                try answer(7, #""url":"\#(base)/a","method":"POST","body":"eHl6""#),
                try answer(8, #""url":"https://other.example/""#),
            ]
            probe.send(#"{"id":9,"url":"\#(base)/slow"}"#)
            answers.append(
                try JSONDecoder().decode(Answer.self, from: Data(try #require(probe.reply(to: #"{"cancel":9}"#)).utf8)))
            probe.finish()
            return answers
        }
        #expect(answers.map(\.id) == Array(1...9))
        #expect(answers.map(\.status) == [200, 200, 200, nil, 302, nil, 200, nil, nil])
        #expect(answers[0].text == "GET " && answers[6].text == "POST xyz")
        #expect(answers[1].cacheStatus?.contains("hit") == true && answers[2].cacheStatus?.contains("fwd") == true)
        #expect(answers[1].headers?.contains { $0.first?.lowercased() == "age" } == true)
        #expect([3, 5, 7, 8].allSatisfy { answers[$0].error != nil })
        server.stop()
    }

    // MARK: Kills

    /// A fifth of the number of the storage layer's test, which has the same files.
    private static let kills =
        (ProcessInfo.processInfo.environment["ESSENTIALS_KILLS"].flatMap { Int($0) } ?? 100) / 5

    /// A body of one version of a path. Its size depends on the path.
    private static func text(_ path: String, _ version: Int) -> String {
        let sizes = [10, 3_000, 66_000, 90_000]
        let line = "\(path) \(version)\n"
        let size = sizes[Int(path.utf8.last ?? 0) % sizes.count]
        return String(repeating: line, count: size / line.utf8.count + 1)
    }

    /// Whether a body is that of one version.
    private static func isWhole(_ answer: Answer) -> Bool {
        guard answer.status == 200 else { return true }
        let tag = answer.headers?.first { $0.first?.lowercased() == "etag" }?.last ?? ""
        let parts = tag.filter { $0 != "\"" }.split(separator: " ")
        guard parts.count == 2, let version = Int(parts[1]) else { return false }
        return answer.text == text(String(parts[0]), version)
    }

    @Test("A client that is killed at any moment leaves responses that are whole")
    func kills() async throws {
        let scratch = try ScratchDirectory()
        let version = Mutex(0)
        let server = try LoopbackServer { request in
            let number = version.withLock { version in
                version += 1
                return version
            }
            return .response(
                headers: [("Cache-Control", "max-age=600"), ("ETag", "\"\(request.path) \(number)\"")],
                body: Self.text(request.path, number))
        }
        let (base, path) = (server.url, scratch("cache"))
        var numbers = SeededNumbers(state: 11)
        var answers: [String] = []
        for _ in 0..<Self.kills {
            let requests = (0..<30).map { id -> String in
                let modes = ["default", "default", "reload", "no-cache"]
                let mode = modes.randomElement(using: &numbers) ?? "default"
                let method = Int.random(in: 0..<12, using: &numbers) == 0 ? "POST" : "GET"
                let name = Int.random(in: 0..<8, using: &numbers)
                return #"{"id":\#(id),"url":"\#(base)/\#(name)","method":"\#(method)","cache":"\#(mode)"}"#
            }
            let count = Int.random(in: 1...30, using: &numbers)
            answers += try await ChildProcess.onThread {
                let probe = try ChildProcess("CacheProbe", [base, "--disk", path])
                for request in requests { probe.send(request) }
                var lines: [String] = []
                while lines.count < count, let line = probe.line() { lines.append(line) }
                return lines + probe.lastLines()
            }
        }
        answers += try await ChildProcess.onThread {
            let probe = try ChildProcess("CacheProbe", [base, "--disk", path])
            let lines = (0..<8).compactMap { number in
                probe.reply(to: #"{"id":\#(number),"url":"\#(base)/\#(number)","cache":"only-if-cached"}"#)
            }
            probe.finish()
            return lines
        }
        let decoded = answers.compactMap { try? JSONDecoder().decode(Answer.self, from: Data($0.utf8)) }
        #expect(decoded.count >= Self.kills && decoded.allSatisfy { Self.isWhole($0) })
        // What was not being written is still there.
        let hits = decoded.filter { $0.cacheStatus?.contains("; hit") == true }
        #expect(hits.count > Self.kills)
    }
}
