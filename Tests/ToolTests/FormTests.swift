import EssentialsTestKit
import FoundationEssentials
import Testing

@testable import essentials

extension ToolTests {
    @Suite("Tool: forms")
    struct FormTests {
        private let directory: TemporaryDirectory

        init() throws { directory = try TemporaryDirectory() }

        // MARK: Fields

        @Test("A form has its fields in order, percent-encoded", arguments: ["post", "put", "patch", "delete"])
        func fields(command: String) async throws {
            let server = try LoopbackServer { _ in .response() }
            let result = try await tool(
                command, server.url, "--form", "q=a b&c=d", "--form", "-n=+%", "--form", "tag=ü", "--form", "tag=",
                "--form", "a=1")
            #expect(result.code == 0, "\(result.errors)")
            #expect(server.requests.map(\.bodyText) == ["q=a%20b%26c%3Dd&-n=%2B%25&tag=%C3%BC&tag=&a=1"])
            #expect(server.requests.map { $0.header("Content-Type") } == ["application/x-www-form-urlencoded"])
        }

        @Test("A header field replaces the content type of a form")
        func contentType() async throws {
            let server = try LoopbackServer { _ in .response() }
            let type = "application/x-www-form-urlencoded; charset=utf-8"
            #expect(
                try await tool("post", server.url, "--form", "a=1", "--header", "content-type: \(type)").code == 0)
            #expect(server.requests.map { $0.allHeaders("Content-Type") } == [[type]])
        }

        // MARK: Parts

        @Test("A form of parts is multipart/form-data with a known length")
        func parts() async throws {
            let server = try LoopbackServer { _ in .response() }
            let bytes = (0..<700_000).map { UInt8(truncatingIfNeeded: $0 &* 11 >> 2) }
            try Data(bytes).write(to: URL(filePath: directory.path + "/large"))
            let page = try directory.file("page.html", "<p>\r\n--")
            let result = try await tool(
                "post", server.url, "--part", "title=a; b=@\"ü\"", "--part", "empty=", "--part", "page=@" + page,
                "--part", "large=@\(directory.path)/large;type=image/png; q=1;filename=x \"y\".png")
            #expect(result.code == 0, "\(result.errors)")
            let request = try #require(server.requests.first)
            let type = try #require(request.header("Content-Type"))
            let boundary = try #require(type.split(separator: "boundary=").last)
            #expect(type == "multipart/form-data; boundary=\(boundary)")
            let text = "Content-Type: text/plain; charset=utf-8\r\n\r\n"
            var expected = Array("--\(boundary)\r\nContent-Disposition: form-data; name=\"title\"\r\n\(text)".utf8)
            expected += Array("a; b=@\"ü\"\r\n--\(boundary)\r\n".utf8)
            expected += Array("Content-Disposition: form-data; name=\"empty\"\r\n\(text)\r\n--\(boundary)\r\n".utf8)
            expected += Array("Content-Disposition: form-data; name=\"page\"; filename=\"page.html\"\r\n".utf8)
            expected += Array("Content-Type: text/html\r\n\r\n<p>\r\n--\r\n--\(boundary)\r\n".utf8)
            expected += Array("Content-Disposition: form-data; name=\"large\"; filename=\"x %22y%22.png\"\r\n".utf8)
            expected += Array("Content-Type: image/png; q=1\r\n\r\n".utf8) + bytes
            expected += Array("\r\n--\(boundary)--".utf8)
            #expect(request.body == expected)
            #expect(request.header("Content-Length") == "\(expected.count)")
            #expect(request.header("Transfer-Encoding") == nil)
        }

        @Test("A form of parts is sent again after a redirect")
        func redirected() async throws {
            let server = try LoopbackServer { request in
                request.path == "/" ? .response(status: 307, headers: [("Location", "/new")]) : .response()
            }
            let file = try directory.file("file", "content")
            #expect(try await tool("post", server.url + "/", "--part", "file=@" + file).code == 0)
            #expect(server.requests.map(\.path) == ["/", "/new"])
            #expect(server.requests.map { $0.bodyText.contains("\r\n\r\ncontent\r\n--") } == [true, true])
            #expect(server.requests[0].body == server.requests[1].body)
        }

        @Test("A form with an unreadable file names the file and is not sent", arguments: ["/missing", ""])
        func badFile(suffix: String) async throws {
            let server = try LoopbackServer { _ in .response() }
            let result = try await tool("post", server.url, "--part", "file=@" + directory.path + suffix)
            #expect(result.code == 1)
            #expect(result.reason == "file")
            #expect(result.errors.contains("“\(directory.path)\(suffix)”"), "\(result.errors)")
            #expect(server.connectionCount == 0)
        }

        @Test(
            "An invalid form part is wrong usage",
            arguments: [
                ("name", "Write a form field as name=value."), ("=text", "Write a form field as name=value."),
                ("a=@-", "A part cannot be standard input"), ("a=@", "The @ needs a file name."),
                ("a=@;type=image/png", "The @ needs a file name."), ("a=@x;type=", "Write a type as type=image/png."),
                ("a=@x;type=png", "Write a type as type=image/png."), ("a=@x;filename=", "“filename=” needs a name."),
                ("a=@x;type=a/b;type=a/b", "“type=” is given twice."),
                ("a=@x;filename=a;filename=b", "“filename=” is given twice."),
            ])
        func wrongPart(part: String, says: String) async throws {
            let result = try await tool("post", "http://127.0.0.1:1/", "--part", part)
            #expect(result.code == 64)
            #expect(result.errors.contains(says), "\(result.errors)")
            #expect(result.output.isEmpty)
        }

        @Test(
            "A form field that looks like a file is refused with the option for files and the spelling of a literal @",
            arguments: ["f=@x", "f=@", "f=@x;type=a/b"])
        func fileInForm(field: String) async throws {
            let result = try await tool("post", "http://127.0.0.1:1/", "--form", field)
            #expect(result.code == 64)
            #expect(result.errors.contains("--part \(field)"), "\(result.errors)")
            #expect(result.errors.contains("--data 'f=%40…'"))
            #expect(try NamedText.formText("f=a@x") == NamedText(name: "f", value: "a@x"))
        }

        @Test("The spelling of a literal @ that the refusal of --form names sends it in a form")
        func literalSign() async throws {
            let server = try LoopbackServer { _ in .response() }
            #expect(try await tool("post", server.url, "--data", "f=%40ada").code == 0)
            #expect(server.requests.first?.bodyText == "f=%40ada")
            #expect(server.requests.first?.header("Content-Type") == "application/x-www-form-urlencoded")
        }

        @Test(
            "A form part is parsed as a name and a text, or as a name, a file and its parameters",
            arguments: [
                ("a=b", "a", PartArgument.Content.text("b")), ("a==@b;type=c", "a", .text("=@b;type=c")),
                ("a=b;type=c/d", "a", .text("b;type=c/d")), ("a=@b", "a", .file(path: "b", type: nil, fileName: nil)),
                ("a=@b;c", "a", .file(path: "b;c", type: nil, fileName: nil)),
                ("a=@./-", "a", .file(path: "./-", type: nil, fileName: nil)),
                ("a=@b;c;type=d/e;f=g", "a", .file(path: "b;c", type: "d/e;f=g", fileName: nil)),
                ("a=@b; filename=c;d; type=e/f", "a", .file(path: "b", type: "e/f", fileName: "c;d")),
                ("a=@type=b", "a", .file(path: "type=b", type: nil, fileName: nil)),
                ("é\u{301}=@é", "é\u{301}", .file(path: "é", type: nil, fileName: nil)),
            ])
        func part(text: String, name: String, content: PartArgument.Content) throws {
            let part = try PartArgument(text)
            #expect(part.name == name)
            #expect(part.content == content)
        }

        // MARK: Conflicts

        @Test(
            "A form excludes other bodies, and form parts exclude a content type",
            arguments: [
                (["--json", "1", "--data", "x"], "Give --json or --data, not both."),
                (["--json", "1", "--form", "a=1"], "Give --json or --form, not both."),
                (["--part", "a=1", "--json", "1"], "Give --json or --part, not both."),
                (["--data", "x", "--form", "a=1"], "Give --data or --form, not both."),
                (["--data", "x", "--part", "a=1"], "Give --data or --part, not both."),
                (["--part", "a=1", "--form", "a=1"], "Give --form or --part, not both."),
                (["--part", "a=1", "--upload", "x"], "Give --part or --upload, not both."),
                (
                    ["--part", "a=1", "--header", "Content-type: text/plain"],
                    "Give --part or --header Content-Type, not both"
                ),
            ])
        func conflicts(arguments: [String], says: String) async throws {
            let result = try await ToolProcess(["post", "http://127.0.0.1:1/"] + arguments).end()
            #expect(result.code == 64)
            #expect(result.errors.hasPrefix("Error: \(says)"), "\(result.errors)")
        }

        @Test(
            "Commands without a body refuse form options", arguments: ["get", "head", "options"], ["--form", "--part"])
        func noBody(command: String, option: String) async throws {
            let result = try await tool(command, "http://127.0.0.1:1/", option, "a=1")
            #expect(result.code == 64)
            #expect(result.errors.hasPrefix("Error: Unknown option “\(option)”"), "\(result.errors)")
        }
    }
}
