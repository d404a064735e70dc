import EssentialsHTTP
import EssentialsRequests
import EssentialsTestKit
import EssentialsTools
import FoundationEssentials
import Testing

/// A signing interceptor made of a closure.
private struct Signing: RequestInterceptor {
    let change: @Sendable (inout EncodedRequest) async throws -> Void
    func sign(_ request: inout EncodedRequest) async throws { try await change(&request) }
}

@Suite("Signing interceptors")
struct SigningTests {
    private static let signature = HTTPField.Name("X-Signature")

    private func redirecting(_ targets: [String: String]) -> StubTransport {
        StubTransport { request throws(RequestFailure) in
            let location = targets[request.url.origin.description + request.url.path]
            return TransportResponse(
                HTTPResponse(
                    status: location == nil ? .ok : .temporaryRedirect,
                    headerFields: location.map { [.location: $0] } ?? [:]),
                body: ResponseBody(Data("ok".utf8)))
        }
    }

    @Test("The time that a signer takes counts for the total deadline, and nothing is sent after it")
    func slowSigner() async throws {
        let fixture = try ServiceFixture {
            $0.interceptors = [Signing { _ in try await Task.sleep(for: .milliseconds(30)) }]
        }
        var request = DataRequest(.get, "a")
        request.options.totalTimeout = .milliseconds(10)
        let failure = await #expect(throws: RequestFailure.self) { try await fixture.service.send(request) }
        #expect(failure?.reason == .timeout)
        #expect(fixture.transport.requests.isEmpty)
    }

    @Test("A signer receives the encoded body, or the length of a stream without reading it")
    func content() async throws {
        let seen = Mutex<EncodedRequest.Content?>(nil)
        let fixture = try ServiceFixture {
            $0.interceptors = [Signing { request in seen.withLock { $0 = request.content } }]
        }
        let pieces = AsyncStream<Data> { continuation in
            continuation.yield(Data("12345".utf8))
            continuation.finish()
        }
        var multipart = try MultipartBody(boundary: "boundary")
        try multipart.append(.field("name", "Ada"))
        let size = try #require(try FileManager.default.attributesOfItem(atPath: #filePath)[.size] as? UInt64)
        func bytes(_ text: String) -> EncodedRequest.Content { .bytes(Data(text.utf8)) }
        let bodies: [(DataRequest.Body, EncodedRequest.Content)] = [
            (.none, .none), (.raw(.none), .none), (.text("é"), bytes("é")),
            (.data(Data([0, 255])), .bytes(Data([0, 255]))),
            (.model(["b": 1]), bytes(#"{"b":1}"#)),
            (.parameters(["b": 1, "a": "x y"], as: .form), bytes("a=x%20y&b=1")),
            (try .file(#filePath), .stream(length: Int(size))), (.stream(pieces, length: 5), .stream(length: 5)),
            (.stream(pieces, length: nil), .stream(length: nil)),
            (.multipart(multipart), .stream(length: multipart.contentLength)),
        ]
        for (body, content) in bodies {
            for progress in [nil, ProgressReport { _ in }] {
                var request = DataRequest(.post, "a", body: body)
                request.uploadProgress = progress
                _ = try await fixture.service.send(request)
                #expect(seen.withLock { $0 } == content)
            }
        }
        _ = try await fixture.service.send(DataRequest(.post, "a", parameters: ["n": 1]))
        #expect(seen.withLock { $0 } == bytes(#"{"n":1}"#))
    }

    @Test(
        "A signer receives the method, the final URL and all fields, including credentials and defaults"
    )
    func fields() async throws {
        let seen = Mutex<EncodedRequest?>(nil)
        let tenant = try #require(HTTPField.Name("X-Tenant"))
        let environment = try ConstantEnvironment(
            "https://h:8443/v1", name: "live", headerFields: [.acceptLanguage: "en"])
        let fixture = ServiceFixture(environment: environment) {
            $0.interceptors = [
                // The signer is listed first, but all preparations run before any signer.
                Signing { request in seen.withLock { $0 = request } },
                Intercepting { draft in
                    draft.parameters["z"] = "a b"
                    try draft.add(HTTPField(name: tenant, value: "acme"))
                },
            ]
        }
        fixture.service.setAuthorization(try .bearer("token"))
        _ = try await fixture.service.send(
            DataRequest(.delete, "a b?x=1", query: ["q": "é"], headerFields: [.ifMatch: "\"1\""], body: .text("t")))
        let request = try #require(seen.withLock { $0 })
        #expect(request.method == .delete)
        #expect(request.url.description == "https://h:8443/v1/a%20b?x=1&q=%C3%A9&z=a%20b")
        #expect(request.host == "h:8443")
        #expect(request.environment.name == "live")
        #expect(request.content == .bytes(Data("t".utf8)))
        #expect(
            request.headerFields.map { "\($0.name): \($0.value)" } == [
                "If-Match: \"1\"", "X-Tenant: acme", "Content-Type: text/plain; charset=utf-8",
                "Authorization: Bearer token", "Accept-Language: en", "Accept: */*", "User-Agent: test/1",
            ])
    }

    @Test("A signer can change the fields and extend the query, but cannot change the body's length")
    func changes() async throws {
        let name = try #require(Self.signature)
        let fixture = try ServiceFixture {
            $0.interceptors = [
                Signing { request in
                    request.headerFields[name] = "first"
                    request.headerFields[.contentLength] = "99"
                    request.append(query: ["sign": "a/b"])
                    request.append(query: [:])
                },
                Signing { request in
                    request.headerFields[name] = (request.headerFields[name] ?? "") + " second"
                    request.headerFields[.accept] = nil
                },
            ]
        }
        let response = try await fixture.service.send(DataRequest(.post, "a", query: ["q": "1"], body: .text("x")))
        let sent = try fixture.last()
        #expect(sent.url.target == "/v1/a?q=1&sign=a%2Fb")
        #expect(sent.headerFields[values: name] == ["first second"])
        #expect(sent.headerFields[.contentLength] == nil)
        #expect(sent.headerFields[.accept] == nil)
        #expect(sent.bodyText == "x")
        // Only the transport receives the signature.
        #expect(response.url?.target == "/v1/a?q=1")
    }

    @Test("A signer is called again for each hop within the origin, without the earlier signature")
    func redirects() async throws {
        let name = try #require(Self.signature)
        let transport = redirecting([
            "https://h/v1/a": "https://h/b", "https://h/b": "https://other/c", "https://other/c": "https://h/d",
        ])
        let count = Mutex(0)
        let fixture = try ServiceFixture(transport) {
            $0.interceptors = [
                Signing { request in
                    #expect(request.headerFields[name] == nil)
                    #expect(request.content == .bytes(Data("x".utf8)))
                    let number = count.withLock { count in
                        count += 1
                        return count
                    }
                    request.headerFields[name] = "\(number) \(request.url.path)"
                }
            ]
        }
        let response = try await fixture.service.send(DataRequest(.post, "a", body: .text("x")))
        #expect(response.status == .ok)
        #expect(
            transport.requests.map(\.url.description) == [
                "https://h/v1/a", "https://h/b", "https://other/c", "https://h/d",
            ])
        #expect(transport.requests.map { $0.headerFields[name] } == ["1 /v1/a", "2 /b", nil, nil])
        // Other requests are not affected.
        _ = try await fixture.service.send(DataRequest(.post, "d", body: .text("x")))
        #expect(try fixture.last().headerFields[name] == "3 /v1/d")
    }

    @Test("A signer receives no body after a redirect that drops it")
    func seeOther() async throws {
        let contents = Mutex<[String]>([])
        let transport = StubTransport { request throws(RequestFailure) in
            let isFirst = request.method == .post
            let fields: HTTPFields = isFirst ? [.location: "/v1/b"] : [:]
            return TransportResponse(
                HTTPResponse(status: isFirst ? .seeOther : .ok, headerFields: fields), body: ResponseBody(Data()))
        }
        let fixture = try ServiceFixture(transport) {
            $0.interceptors = [
                Signing { request in contents.withLock { $0.append("\(request.method) \(request.content == .none)") } }
            ]
        }
        _ = try await fixture.service.send(DataRequest(.post, "a", body: .text("x")))
        #expect(contents.withLock { $0 } == ["POST false", "GET true"])
    }

    @Test("A signer signs a resumed download with its range")
    func resumedDownload() async throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let name = try #require(Self.signature)
        let attempts = Mutex(0)
        let transport = StubTransport { request throws(RequestFailure) in
            let isFirst = attempts.withLock { attempts in
                attempts += 1
                return attempts == 1
            }
            guard isFirst else {
                return TransportResponse(
                    HTTPResponse(
                        status: .partialContent,
                        headerFields: [.contentRange: "bytes 4-7/8", .eTag: "\"1\"", .contentLength: "4"]),
                    body: ResponseBody(Data("5678".utf8)))
            }
            return TransportResponse(
                HTTPResponse(status: .ok, headerFields: [.eTag: "\"1\"", .contentLength: "8", .acceptRanges: "bytes"]),
                body: ResponseBody(source: BrokenOff(pieces: ["1234"])))
        }
        let fixture = try ServiceFixture(transport) {
            $0.interceptors = [
                Signing { request in request.headerFields[name] = request.headerFields[.range] ?? "all" }
            ]
        }
        var options = DownloadOptions()
        options.resumes = true
        let path = directory.path + "/film"
        for _ in 0..<2 {
            _ = try? await fixture.service.download(
                DataRequest(.get, "film"), to: path, options: options, progress: nil)
        }
        #expect(try String(decoding: Data(contentsOf: URL(filePath: path)), as: UTF8.self) == "12345678")
        #expect(transport.requests.map { $0.headerFields[name] } == ["all", "bytes=4-"])
    }

    @Test("A signer may refuse the request before anything is sent")
    func refusing() async throws {
        struct NoKey: Error, Equatable {}
        let failures: [(any Error, RequestFailure.Reason)] = [
            (RequestFailure(.file, "No key."), .file), (NoKey(), .invalidRequest), (CancellationError(), .cancelled),
        ]
        for (error, reason) in failures {
            let fixture = try ServiceFixture { $0.interceptors = [Signing { _ in throw error }] }
            let failure = await #expect(throws: RequestFailure.self) {
                try await fixture.service.send(DataRequest(.get, "a"))
            }
            #expect(failure?.reason == reason)
            #expect(failure?.underlying as? NoKey == error as? NoKey)
            #expect(fixture.transport.requests.isEmpty)
        }
    }

    /// The vectors `get-vanilla`, `get-vanilla-query-order-key-case` and `post-x-www-form-urlencoded` of
    /// the published test suite.
    @Test(
        "A signer can compute an Amazon signature of version 4",
        arguments: [
            (
                HTTPRequest.Method.get, "", String?.none,
                "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"
            ),
            (
                .get, "?Param2=value2&Param1=value1", nil,
                "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500"
            ),
            (.post, "", "Param1=value1", "ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a"),
        ])
    func signatureVersion4(
        method: HTTPRequest.Method, path: String, body: String?, signature: String
    ) async throws {
        var signer = SignatureVersion4()
        if body != nil { signer.signedFields.insert("content-type", at: 0) }
        let fixture = try ServiceFixture(base: "https://example.amazonaws.com/") { [signer] in
            $0.interceptors = [signer]
        }
        let form = try MediaType("application/x-www-form-urlencoded")
        let request = DataRequest(method, path, body: body.map { .data(Data($0.utf8), type: form) } ?? .none)
        let sent = try await fixture.sent(request)
        #expect(sent.headerFields[values: .authorization].count == 1)
        #expect(sent.headerFields[.authorization]?.hasSuffix("Signature=\(signature)") == true)
    }
}

/// A body that fails after its pieces.
private final class BrokenOff: ResponseBody.Source {
    private let pieces: Mutex<[String]>

    init(pieces: [String]) { self.pieces = Mutex(pieces) }

    func next() async throws(RequestFailure) -> BodyChunk? {
        guard let piece = pieces.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) else {
            throw RequestFailure(.interrupted, "It broke off.", phase: .receiving)
        }
        return BodyChunk(Array(piece.utf8))
    }

    func cancel() {}
}
