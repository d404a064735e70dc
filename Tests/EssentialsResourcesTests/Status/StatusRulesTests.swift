import EssentialsHTTP
import TestTools
import Testing

@testable import EssentialsResources

@Suite struct StatusRulesTests {
    private typealias Part = StatusRules.Part

    private static func part(_ letters: String) -> Part {
        var part = Part(
            isLoading: letters.contains("l") || letters.contains("m"), isLoadingManually: letters.contains("m"),
            hasContent: letters.contains("c"))
        if let name = letters.first(where: { $0.isNumber }) { part.failure = RequestFailure(.timeout, "\(name)") }
        return part
    }

    private static func text(_ status: ResourceStatus) -> String {
        switch status {
        case .loading: "loading"
        case .content: "content"
        case .failed(let failure): "failed \(failure.message)"
        }
    }

    @Test(
        "By default, loading precedes a failure, which precedes content",
        arguments: [
            ("", "content"), ("-", "content"), ("c", "content"), ("l", "loading"), ("m", "loading"), ("1", "failed 1"),
            ("c1", "failed 1"), ("l1", "loading"), ("c l1", "loading"), ("c -", "content"), ("- 2 1", "failed 2"),
        ])
    func standard(parts: String, expected: String) {
        let parts = parts.split(separator: " ").map { Self.part(String($0)) }
        #expect(Self.text(StatusRules.status(of: parts)) == expected)
    }

    @Test(
        "The first rule that applies decides, and if no rule applies there is content",
        arguments: [
            ("l", [], "content"), ("1", [], "content"), ("l1", [.failure, .loading], "failed 1"),
            ("l", [.manualLoading], "content"), ("m", [.manualLoading], "loading"),
            ("lc", [.anyContent, .loading], "content"),
            ("l -", [.anyContent, .loading], "loading"), ("c l", [.allContent, .loading], "loading"),
            ("c lc", [.allContent, .loading], "content"), ("c l", [.anyContent, .loading], "content"),
            ("c1 -", [.allContent, .failure], "failed 1"), ("c1 c", [.allContent, .failure], "content"),
            ("m1", [.failure, .manualLoading, .anyContent], "failed 1"),
        ] as [(String, [ResourceStatus.Rule], String)])
    func rules(parts: String, rules: [ResourceStatus.Rule], expected: String) {
        let parts = parts.split(separator: " ").map { Self.part(String($0)) }
        #expect(Self.text(StatusRules.status(of: parts, by: rules)) == expected)
    }

    @Test(
        "Random sets have the state that results from evaluating all rules one by one", arguments: [1, 2] as [UInt64])
    func random(seed: UInt64) {
        var numbers = SeededNumbers(state: seed)
        for round in 0..<5_000 {
            let letters = (0..<Int.random(in: 0...5, using: &numbers)).map { _ in
                numbers.text(of: ["l", "m", "c", "1", "2", "-", "-"], upTo: 3)
            }
            let rules = Array(ResourceStatus.Rule.allCases.shuffled(using: &numbers).prefix(Int(numbers.next() % 6)))
            let failure = letters.compactMap { $0.first { $0.isNumber } }.first
            let isLoading = letters.joined().contains { "lm".contains($0) }
            let answers: [ResourceStatus.Rule: String] = [
                .loading: isLoading ? "loading" : "", .manualLoading: letters.joined().contains("m") ? "loading" : "",
                .anyContent: letters.joined().contains("c") ? "content" : "",
                .allContent: letters.count { $0.contains("c") } == letters.count ? "content" : "",
                .failure: failure.map { "failed \($0)" } ?? "",
            ]
            let expected = rules.map { answers[$0] ?? "" }.first { !$0.isEmpty } ?? "content"
            let status = StatusRules.status(of: letters.map(Self.part), by: rules)
            #expect(Self.text(status) == expected, "seed \(seed), round \(round): \(letters) \(rules)")
        }
    }

    @Test("The default rules can be read and changed")
    func defaults() {
        #expect(ResourceStatus.standardRules == [.loading, .failure, .anyContent])
    }
}
