import EssentialsTestKit
import Testing

@testable import essentials

extension ToolTests {
    @Suite("Tool: items after the URL")
    struct RequestItemTests {
        private static func header(_ text: String) throws -> RequestItem { .header(try HeaderArgument(text)) }

        @Test(
            "An item is divided at its first separator",
            arguments: [
                ("name=Ada", .member("name", .text("Ada"))), ("name=", .member("name", .text(""))),
                ("a=b=c", .member("a", .text("b=c"))), ("a=b:c", .member("a", .text("b:c"))),
                ("age:=36", .member("age", .json("36"))), ("big:=1.50e400", .member("big", .json("1.50e400"))),
                ("list:=[1, {\"a\": null}]", .member("list", .json("[1, {\"a\": null}]"))),
                ("note=@a.txt", .member("note", .textFile("a.txt"))),
                ("address:=@a.json", .member("address", .jsonFile("a.json"))),
                ("q==a b", .query(NamedText(name: "q", value: "a b"))),
                ("q===", .query(NamedText(name: "q", value: "="))),
                ("q==@x", .query(NamedText(name: "q", value: "@x"))),
                ("q==", .query(NamedText(name: "q", value: ""))),
                (#"a\=b=c"#, .member("a=b", .text("c"))), (#"a\:b=c"#, .member("a:b", .text("c"))),
                (#"a\@b=c"#, .member("a@b", .text("c"))), (#"a\\=c"#, .member(#"a\"#, .text("c"))),
                (#"a\nb=c\=d"#, .member(#"a\nb"#, .text(#"c\=d"#))), (#"a\;"#, nil),
                ("ü=ö", .member("ü", .text("ö"))), ("a=\u{301}b", .member("a", .text("\u{301}b"))),
                ("x[y]=1", .member("x[y]", .text("1"))),
            ] as [(String, RequestItem?)])
        func item(text: String, item: RequestItem?) throws {
            #expect((try? RequestItem(text)) == item)
        }

        @Test("A header item has a value, sends an empty value, or removes the field")
        func headers() throws {
            #expect(try RequestItem("X-A:one: two") == Self.header("X-A: one: two"))
            #expect(try RequestItem("X-A:  one ") == Self.header("X-A:one"))
            #expect(try HeaderArgument("X-A:").value == nil)
            #expect(try RequestItem("X-A:") == Self.header("X-A:"))
            #expect(try HeaderArgument("X-A;").value == "")
            #expect(try RequestItem("X-A;") == Self.header("X-A;"))
            #expect(try RequestItem("a:b=c") == Self.header("a:b=c"))
        }

        @Test(
            "An item without a separator or a name is refused with the valid forms",
            arguments: [
                "", "name", "=x", ":=1", "==x", ":x", ";", "@file", "a@file", "a:=", "a:=[1,]", "a:=x", "a=@", "a:=@",
                "Host:", "Content-Length:", "Accept:", "esc\u{1B}[2J",
            ])
        func refused(text: String) {
            let error = #expect(throws: (any Error).self) { try RequestItem(text) }
            #expect(!"\(String(describing: error))".unicodeScalars.contains("\u{1B}"))
        }

        @Test("Items become the query, the fields and a JSON body in their order")
        func sent() async throws {
            let server = try LoopbackServer { _ in .response() }
            let directory = try TemporaryDirectory()
            let note = try directory.file("note", "two\n\"lines\"")
            let address = try directory.file("address", "{\"city\":  \"Köln\", \"city\": 1.0}")
            let result = try await tool(
                "post", server.url + "/a=b?x=1", "q==a b", "X-A:one", "name=Ada", "age:=36.0", "note=@" + note,
                "address:=@" + address, "--query", "first=1")
            #expect(result.code == 0, "\(result.errors)")
            let request = try #require(server.requests.first)
            #expect(request.target == "/a=b?x=1&first=1&q=a%20b")
            #expect(request.header("X-A") == "one")
            #expect(request.header("Content-Type") == "application/json")
            #expect(
                request.bodyText
                    == #"{"name": "Ada", "age": 36.0, "note": "two\u000a\"lines\"", "#
                    + #""address": {"city":  "Köln", "city": 1.0}}"#)
        }

        @Test("A removed field is not sent, even if the tool would add it")
        func removed() async throws {
            let server = try LoopbackServer { _ in .response() }
            let result = try await tool(
                "post", server.url, "User-Agent:", "-H", "Accept-Encoding:", "Content-Type:", "X-Empty;",
                "a=1")
            #expect(result.code == 0, "\(result.errors)")
            let request = try #require(server.requests.first)
            for name in ["User-Agent", "Accept-Encoding", "Content-Type"] {
                #expect(request.header(name) == nil, "\(name)")
            }
            #expect(request.header("X-Empty") == "")
            #expect(request.bodyText == #"{"a": "1"}"#)
        }

        @Test(
            "Items that cannot be sent are refused as wrong usage",
            arguments: [
                ["get", "http://127.0.0.1/", "a=1"], ["post", "http://127.0.0.1/", "a=1", "a:=2"],
                ["post", "http://127.0.0.1/", "a=1", "--json", "1"], ["post", "http://127.0.0.1/", "word"],
                ["get", "http://127.0.0.1/", "http://127.0.0.1/b"],
                ["get", "http://127.0.0.1/", "HTTPS://127.0.0.1/b"],
                ["get", "http://127.0.0.1/", "Authorization:x", "--bearer", "t"],
            ])
        func misused(arguments: [String]) async throws {
            let result = try await ToolProcess(arguments).end()
            #expect(result.code == 64)
            #expect(result.errors.hasPrefix("Error: "), "\(result.errors)")
        }
    }
}
