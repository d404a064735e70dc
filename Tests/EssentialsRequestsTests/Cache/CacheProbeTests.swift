import EssentialsHTTP
import EssentialsTestKit
import Foundation
import TestTools
import Testing

/// The client that a suite of tests for HTTP caches drives, against a real server.
@Suite("The client for suites of cache tests", .timeLimit(.minutes(1)))
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
}
