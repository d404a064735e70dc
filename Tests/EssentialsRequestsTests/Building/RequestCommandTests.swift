import EssentialsHTTP
import EssentialsRequests
import EssentialsTestKit
import EssentialsTools
import FoundationEssentials
import Testing

@Suite("The curl command of a request", .enabled(if: ShellCommand.hasCurl, "The program curl is not installed."))
struct RequestCommandTests {
    private static let texts = [
        "'", "a\"b", "é\u{301}", "%41%", "line\nbreak\r\n", "$(id)`id`", "\\n", "@file", "{a,b}[1-3]", "-x", "plain",
    ]
    /// The fields of the service and of curl.
    private static let others: Set = ["accept", "user-agent", "accept-encoding"]
    private static let large = Data(repeating: 7, count: 70_000)

    private static func bodies() throws -> [DataRequest.Body] {
        let bytes = Data((0...255).map { $0 })
        return [
            .none, .model(Note(id: 1, text: "it's")), .json(["a": [nil, 1.5, "'"]]), .parameters(["a": "x y&=+é"]),
            .parameters(["a": "x y&=+é", "password": "s3cret"], as: .form), .data(bytes), .data(Data()), .text("é"),
            .text("é", type: try MediaType("text/plain; charset=iso-8859-1")), .raw(.bytes(Data("untyped".utf8))),
            .data(bytes + bytes, type: try MediaType("image/png")), .text(String(repeating: "long'", count: 13_000)),
            .data(large),
        ]
    }

    /// Fifty requests of all kinds.
    private static func requests() throws -> [DataRequest] {
        let bodies = try bodies()
        return try (0..<50).map { index in
            let text = texts[index % texts.count]
            let body = bodies[index % bodies.count]
            let methods: [HTTPRequest.Method] =
                body.isNone ? [.get, .head, .delete, .options, .post] : [.post, .put, .patch, .delete]
            var request = DataRequest(methods[index % methods.count], "p/\(index)?own=\(index)", body: body)
            request.query = QueryItems([QueryItems.Item(name: "q" + text, value: text)])
            request.headerFields.append(try .checked(name: "X-Quote", value: "it's \"é\" $HOME"))
            request.headerFields.append(try .checked(name: "X-Empty", value: ""))
            for value in ["1", "2"] { request.headerFields.append(try .checked(name: "X-Repeated", value: value)) }
            request.headerFields[.authorization] = "Bearer s3cret"
            if index % 3 == 0 { request.idempotencyKey = .text("key-\(index)") }
            if body.isNone, request.method == .get { request.parameters = ["password": "s3cret", "n": 1] }
            return request
        }
    }

    /// What the two requests have in common.
    private func parts(_ request: ServerRequest) -> [String] {
        let names = Set(request.headers.map { $0.name.lowercased() }).subtracting(Self.others).sorted()
        return [request.method, request.target, "\(request.body)"] + names.map { "\($0): \(request.allHeaders($0))" }
    }

    private func run(_ command: String) throws {
        try ShellCommand.run(command, files: ["body-of-70000-bytes": Self.large])
    }

    @Test("The shell line of each of fifty requests sends the same bytes as the service")
    func same() async throws {
        try await withServer({ _ in .response(body: "ok") }) { service, server in
            let base = try RequestURL(server.url + "/v1")
            for (index, request) in try Self.requests().enumerated() {
                let first = server.requestCount
                _ = try await service.send(request)
                try run(request.curlCommand(under: base, showsSecrets: true))
                let sent = server.requests.dropFirst(first)
                #expect(sent.count == 2)
                guard let own = sent.first, let other = sent.last else { continue }
                #expect(parts(other) == parts(own), "request \(index)")
                #expect(try !request.curlCommand(under: base).contains("s3cret"), "request \(index)")
            }
        }
    }

    /// Changes a request and keeps its command.
    private final class Interceptor: RequestInterceptor {
        let command = Mutex("")

        func prepare(_ draft: inout RequestDraft) async throws {
            try draft.add(.checked(name: "X-Late", value: "1"))
            draft.parameters["late"] = "a b"
            let text = try draft.curlCommand(showsSecrets: true)
            command.withLock { $0 = text }
        }
    }

    @Test("The shell line of a draft has what interceptors have added, and the fields of the environment")
    func draft() async throws {
        let interceptor = Interceptor()
        var configuration = HTTPDataRequestService.Configuration()
        configuration.interceptors = [interceptor]
        let fields: HTTPFields = [.authorization: "Basic Og=="]
        try await withServer({ _ in .response(body: "ok") }, fields: fields, configuration: configuration) {
            service, server in
            for method in [HTTPRequest.Method.get, .post] {
                let first = server.requestCount
                _ = try await service.send(DataRequest(method, "a", parameters: ["n": 1]))
                try run(interceptor.command.withLock { $0 })
                let sent = server.requests.dropFirst(first).map(parts)
                #expect(sent.count == 2)
                #expect(sent.first == sent.last)
                #expect(sent.first?.contains("authorization: [\"Basic Og==\"]") == true)
            }
        }
    }

    @Test("A request to any server, a pinned one and one with its own base need no environment")
    func bases() throws {
        let base = try RequestURL("https://own.example/v2/")
        let other = EnvironmentSnapshot(baseURL: try RequestURL("https://h.example/"), headerFields: [.accept: "a/b"])
        var request = DataRequest(.get, "a")
        #expect(throws: RequestFailure.self) { try request.curlCommand() }
        request.base = RequestBase(base)
        #expect(try request.curlCommand().contains("'https://own.example/v2/a'"))
        request.base = .pinned(to: other)
        #expect(
            try request.curlCommand(under: base) == "curl -X 'GET' -H 'Accept: a/b' --globoff 'https://h.example/a'")
        let whole = DataRequest(.get, at: try RequestURL("https://any.example/x?token=s3cret&n=1"))
        #expect(try whole.curlCommand() == "curl -X 'GET' --globoff 'https://any.example/x?token=…&n=1'")
        request.base = "no url"
        #expect(throws: RequestFailure.self) { try request.curlCommand(under: base) }
    }

    @Test("A body that is read while it is sent is a file in the command")
    func streams() throws {
        let base = try RequestURL("https://h.example/")
        let stream = AsyncStream<Data> { $0.finish() }
        let known = DataRequest(.put, "a", body: .stream(stream, length: 3))
        #expect(
            try known.curlCommand(under: base).hasSuffix(
                "--data-binary @- --globoff 'https://h.example/a' <body-of-3-bytes"))
        let unknown = DataRequest(.put, "a", body: .stream(stream, length: nil))
        #expect(
            try unknown.curlCommand(under: base).hasSuffix("--data-binary @- --globoff 'https://h.example/a' <body"))
        try ShellCommand.run("! " + known.curlCommand(under: base))
    }
}
