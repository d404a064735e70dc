import EssentialsHTTP
import FoundationEssentials
import TestTools
import Testing

@Suite struct QueryItemsTests {
    private func items(_ pairs: (String, String?)...) -> QueryItems {
        QueryItems(pairs.map { QueryItems.Item(name: $0.0, value: $0.1) })
    }

    @Test("Literals keep the order and repeated names")
    func literals() {
        let fromDictionary: QueryItems = ["b": "1", "a": "2", "b": nil]
        let fromArray: QueryItems = [("b", "1"), ("a", "2"), ("b", nil)]
        #expect(fromDictionary == items(("b", "1"), ("a", "2"), ("b", nil)))
        #expect(fromArray == fromDictionary)
        #expect(fromDictionary.encodedQuery == "b=1&a=2&b")
        #expect(fromDictionary.values(for: "b") == ["1", nil])
        #expect(fromDictionary["a"] == "2")
        #expect(fromDictionary["c"] == nil)
        let empty: QueryItems = [:]
        #expect(empty.isEmpty)
    }

    @Test("Items are appended at the end and percent-encoded")
    func appending() {
        var items = QueryItems()
        items.append("é[]", "a b&c=d+e%")
        items.append("x", nil)
        items.append("", nil)
        items.append("", "")
        #expect(items.encodedQuery == "%C3%A9%5B%5D=a%20b%26c%3Dd%2Be%25&x&=")
    }

    @Test(
        "A query is parsed with its order, its plus signs and its malformed escapes",
        arguments: [
            ("", []), ("a=1", ["a=1"]), ("a", ["a"]), ("a=", ["a="]), ("=v", ["=v"]), ("a=b=c", ["a=b=c"]),
            ("&&a=1&&b=2&", ["a=1", "b=2"]), ("b=2&a=1&b=3", ["b=2", "a=1", "b=3"]), ("a+b=c+d", ["a+b=c+d"]),
            ("%61=%C3%A9%20x", ["a=é x"]), ("a=%", ["a=%"]), ("a=%4", ["a=%4"]), ("a=%zz%41", ["a=%zzA"]),
            ("a=%FF", ["a=\u{fffd}"]), ("a=é", ["a=é"]), ("a=%2b%26%3d", ["a=+&="]),
            ("a[]=1&a[]=2", ["a[]=1", "a[]=2"]),
        ])
    func reading(query: String, shown: [String]) throws {
        let items = try QueryItems(parsing: query)
        #expect(items.items.map { item in item.value.map { "\(item.name)=\($0)" } ?? item.name } == shown)
    }

    @Test("In a form's body a plus sign is a space, and trailing line breaks are ignored")
    func form() throws {
        #expect(try QueryItems(form: Data("a+b=c+d%2B&e\r\n".utf8)) == items(("a b", "c d+"), ("e", nil)))
        #expect(try QueryItems(form: Data("x=%E9".utf8), charset: .latin1) == items(("x", "é")))
        #expect(try QueryItems(form: Data("x=%C3%A9".utf8), charset: .utf16) == items(("x", "é")))
        #expect(try QueryItems(form: Data("\n".utf8)).isEmpty)
        #expect(try QueryItems(form: Data("xxa=1".utf8)[2...]) == items(("a", "1")))
        #expect(try QueryItems(parsing: "a+b", plusIsSpace: true) == items(("a b", nil)))
    }

    @Test("More items than the maximum fail with tooLarge")
    func maximum() throws {
        let query = (0..<1000).map { "a=\($0)" }.joined(separator: "&")
        #expect(try QueryItems(parsing: query).items.count == 1000)
        let failure = try #require(throws: RequestFailure.self) { try QueryItems(parsing: query + "&secret=1") }
        #expect(failure.reason == .tooLarge)
        #expect(!failure.description.contains("secret"))
        #expect(try QueryItems(parsing: "a&b", maximumItems: 2).items.count == 2)
        #expect(throws: RequestFailure.self) { try QueryItems(parsing: "a&b&c", maximumItems: 2) }
        #expect(throws: RequestFailure.self) { try QueryItems(parsing: "a", maximumItems: -1) }
    }

    @Test("An encoded query is parsed to the same items")
    func roundTrip() throws {
        var numbers = SeededNumbers(state: 3986)
        let pieces = ["a", "B", " ", "&", "=", "+", "%", "é", "😀", "[", "]", "\u{0}", "%41", "\n"]
        for _ in 0..<2000 {
            var items = QueryItems()
            for _ in 0..<Int.random(in: 0...4, using: &numbers) {
                let name = "n" + numbers.text(of: pieces, upTo: 4)
                items.append(name, Bool.random(using: &numbers) ? numbers.text(of: pieces, upTo: 5) : nil)
            }
            #expect(try QueryItems(parsing: items.encodedQuery) == items)
            #expect(try QueryItems(form: Data(items.encodedQuery.utf8)) == items)
        }
    }

    @Test("Items are encoded as JSON objects and decoded again")
    func json() throws {
        let items: QueryItems = ["a": "1", "b": nil]
        let text = try CodecRegistry.standard.text(items)
        #expect(text == #"[{"name":"a","value":"1"},{"name":"b"}]"#)
        #expect(try CodecRegistry.standard.decode(QueryItems.self, text) == items)
    }
}
