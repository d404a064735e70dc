import EssentialsHTTP
import EssentialsRequests
import EssentialsTestKit
import FoundationEssentials
import Testing

@Suite("The curl command of a definition", .enabled(if: ShellCommand.hasCurl, "The program curl is not installed."))
struct DefinitionCommandTests {
    private static let texts = [
        "'", "a\"b", "é\u{301}", "%41%", "line\nbreak\r\n", "$(id)`id`", "\\n", "@file", "{a,b}[1-3]", "-x", "",
    ]

    private static func bodies() throws -> [RequestContent] {
        var bodies = texts.map { RequestContent($0) }
        bodies += texts.map { RequestContent(Note(id: 1, text: $0)) }
        bodies += [
            RequestContent(), RequestContent(Data([0, 0x25, 0x5c, 0xff, 0x0a, 0])),
            RequestContent(Data((0...255).map { $0 })),
            RequestContent(form: ["a": "x y&=+é", "b": ["1", "2"]]), RequestContent(json: ["a": [nil, 1.5, "'"]]),
            RequestContent(.text("é", type: try MediaType("text/plain; charset=iso-8859-1"))),
            RequestContent(.data(Data())),
            RequestContent(.raw(.bytes(Data("untyped".utf8)))),
            RequestContent(String(repeating: "long'", count: 30_000)),
        ]
        return bodies
    }

    private func run(_ command: String) throws {
        try ShellCommand.run(
            command, files: ["body-of-150000-bytes": Data(String(repeating: "long'", count: 30_000).utf8)])
    }

    /// What the two requests have in common.
    private func parts(_ request: ServerRequest, _ names: [String]) -> [String] {
        [request.method, request.target, "\(request.body)"]
            + (names + ["Content-Type"]).map { "\($0): \(request.allHeaders($0))" }
    }

    @Test("The shell line sends the same method, path, query, fields and body as the service")
    func same() async throws {
        try await withServer({ _ in .response(body: "ok") }) { service, server in
            let base = try RequestURL(server.url + "/v1?k=%27")
            let names = ["X-Quote", "X-Empty", "X-Repeated", "Authorization"]
            for (index, content) in try Self.bodies().enumerated() {
                let text = Self.texts[index % Self.texts.count]
                let methods: [HTTPRequest.Method] =
                    content.isEmpty ? [.get, .head, .delete, .options] : [.post, .put, .patch, .delete]
                let request = APIRequest<Void>(
                    methods[index % methods.count], in: APIContext(base: RequestBase(base)),
                    RequestProperties {
                        RequestPath {
                            "p"; text + "x"
                        }
                        RequestQuery {
                            ("q" + text, text); ("flag", "")
                        }
                        RequestHeader("X-Quote", "it's \"é\" $HOME")
                        RequestHeader("X-Empty", "")
                        RequestHeader.adding("X-Repeated", "1")
                        RequestHeader.adding("X-Repeated", "2")
                        RequestHeader.authorization(.bearer("s3cret"))
                        content
                    })
                let first = server.requestCount
                try await service.send(request)
                try run(request.curlCommand(showsSecrets: true))
                let sent = server.requests.dropFirst(first)
                #expect(sent.count == 2)
                guard let own = sent.first, let other = sent.last else { continue }
                #expect(parts(other, names) == parts(own, names), "body \(index)")
            }
        }
    }
}
