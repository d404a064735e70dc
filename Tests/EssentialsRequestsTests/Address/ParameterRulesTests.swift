import EssentialsHTTP
import Testing

@testable import EssentialsRequests

@Suite struct ParameterRulesTests {
    @Test(
        "Parameters are set, removed and sorted by name",
        arguments: [
            (nil, ["a": "1"], "a=1"), ("b=2", ["a": "1"], "a=1&b=2"), ("a=0&b=2", ["a": "1"], "a=1&b=2"),
            ("a=0&a=3&b=2", ["a": "1"], "a=1&b=2"), ("a=1", ["a": nil], nil), ("a=1", ["b": nil], "a=1"),
            ("", ["b": nil], nil), (nil, ["a": ""], "a"), ("a=1", ["a": ""], "a"), ("b=1&a=2", [:], "a=2&b=1"),
            (nil, ["q": "a b+c=d&e"], "q=a%20b%2Bc%3Dd%26e"), (nil, ["a=b": "é"], "a%3Db=%C3%A9"),
            ("z=1&a=1", ["m": "1", "z": nil], "a=1&m=1"), ("&&b=1&&a", ["c": "1"], "a&b=1&c=1"), (nil, ["": ""], nil),
            ("a=1&a%5Bx%5D=2", ["a": "3"], "a=3&a%5Bx%5D=2"),
        ] as [(String?, QueryItems, String?)])
    func setting(query: String?, items: QueryItems, expected: String?) {
        #expect(ParameterRules.query(query?[...], setting: items) == expected)
    }

    @Test("Items with one name keep their order, and sorting changes no other spelling")
    func stable() {
        #expect(ParameterRules.query("t=b&s=1&t=a", setting: ["a": "1"]) == "a=1&s=1&t=b&t=a")
        #expect(ParameterRules.query("q=a+b&x=%ff&y=%2a", setting: ["a": "1"]) == "a=1&q=a+b&x=%ff&y=%2a")
        #expect(ParameterRules.query(nil, setting: ["t": "b", "s": "1", "t": "a"]) == "s=1&t=b&t=a")
        let many: QueryItems = QueryItems((0..<100).map { .init(name: "n", value: "\($0)") })
        let expected = (0..<100).map { "n=\($0)" }.joined(separator: "&")
        #expect(ParameterRules.query(nil, setting: many) == expected)
    }

    @Test("An escaped name is the same parameter")
    func escapedName() {
        #expect(ParameterRules.query("%61=1&b=2", setting: ["a": "3"]) == "a=3&b=2")
        #expect(ParameterRules.query("%C3%A9=1", setting: ["é": nil]) == nil)
    }

    @Test("The order in which parameters are set makes no second resource")
    func order() throws {
        let base = ResourceBase(try RequestURL("https://example.com/v1?k=1"))
        let url = base.url(path: "users")
        let one = base.url(base.url(url, setting: ["a": "1"]), setting: ["z": "2"])
        let other = base.url(base.url(url, setting: ["z": "2"]), setting: ["a": "1"])
        #expect(one == other)
        #expect(one.text == "https://example.com/v1/users?a=1&k=1&z=2")
        #expect(one.isBelowBase)
        let bare = base.url(one, setting: ["a": nil, "k": nil, "z": nil])
        #expect(bare.text == "https://example.com/v1/users")
    }
}
