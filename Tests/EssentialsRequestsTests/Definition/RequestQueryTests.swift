import EssentialsHTTP
import EssentialsRequests
import Testing

@Suite("RequestQuery")
struct RequestQueryTests {
    @Test(
        "Names and values are escaped strictly",
        arguments: [
            ("+", "%2B"), ("&", "%26"), ("=", "%3D"), (";", "%3B"), ("#", "%23"), ("?", "%3F"), (" ", "%20"),
            ("é", "%C3%A9"), ("/", "%2F"), ("%", "%25"), ("'", "%27"), ("-._~", "-._~"), ("\u{0}", "%00"),
        ])
    func escaping(_ text: String, _ encoded: String) {
        #expect(definition { RequestQuery { (text, text) } }.target == "/v1?\(encoded)=\(encoded)")
    }

    @Test("Order and duplicates are kept, nil removes the item, and an empty value is a bare name")
    func items() {
        let (none, tags): (String?, [String]?) = (nil, ["p", "q"])
        let query = RequestQuery {
            ("b", 2)
            ("a", "1")
            ("b", true)
            ("none", none)
            ("flag", "")
            ("tag", ["x", "y"])
            ("more", tags)
            ("b", 2.5)
            ("gone", 1)
            ("gone", nil)
            ("gone2", 1)
            ("gone2", [Int]?.none)
        }
        #expect(query.items.encodedQuery == "b=2&a=1&b=true&flag&tag=x&tag=y&more=p&more=q&b=2.5")
        let literal: RequestQuery = ["a": 1, "b": nil, "a": "2", "c": ["x", "y"], "d": tags]
        #expect(literal.items.encodedQuery == "a=1&a=2&c=x&c=y&d=p&d=q")
    }

    @Test("A builder supports if, else, switch, for and #available")
    func controlFlow() {
        func query(_ kind: Int) -> String {
            RequestQuery {
                if kind == 0 { ("zero", "") }
                if kind == 1 { ("one", 1) } else { ("other", kind) }
                switch kind {
                case 2: ("two", 2)
                default: QueryItems()
                }
                for index in 0..<kind { ("i", index) }
                if #available(macOS 15, *) { QueryItems.Item(name: "new", value: nil) }
            }.items.encodedQuery
        }
        #expect(query(0) == "zero&other=0&new")
        #expect(query(2) == "other=2&two=2&i=0&i=1&new")
        #expect(RequestQuery {}.items.isEmpty)
    }

    @Test("The items of a child come after those of its parent, and the query of the base URL comes first")
    func inheritance() {
        var context = APIContext(base: "https://h.example/v1?key=1&x=a%2Bb")
        context.properties = RequestProperties {
            RequestQuery {
                ("p", 1); ("q", 1)
            }
        }
        let request = APIRequest<Note>(
            .get, "n", in: context,
            RequestProperties {
                RequestQuery {
                    ("p", nil); ("r", 2)
                }
            })
        #expect(request.target == "/v1/n?key=1&x=a%2Bb&q=1&r=2")
    }

    @Test(
        "The query of a base URL is kept, whatever form it has",
        arguments: [
            ("https://h.example/v1?a=1", "/v1/n?a=1&x=1"), ("https://h.example/v1?a=1&", "/v1/n?a=1&x=1"),
            ("https://h.example/v1?", "/v1/n?x=1"), ("https://h.example?a", "/n?a&x=1"),
            ("https://h.example/v1/?a=/b?c", "/v1/n?a=/b?c&x=1"), ("https://h.example/v1#f", "/v1/n?x=1"),
        ])
    func baseQuery(_ base: String, _ target: String) {
        #expect(definition("n", base: RequestBase(base)) { RequestQuery("x", 1) }.target == target)
    }
}
