// swift-format-ignore-file
// The code stands as in the documentation comments.

import Dispatch
import FoundationEssentials
import Glibc
import ServiceEssentials
import Testing

@testable import EssentialsTransport

private struct Problem: Codable, Sendable { var title = "" }
private struct User: Codable, Sendable { var name = "" }
private struct Order: Codable, Sendable { var id = "" }
private final class Counter: Sendable { func add(_ count: Int) {} }
private struct SHA256 { static func hash(data: [UInt8]) -> [UInt8] { data } }
private final class SHA256Digest: IncrementalHash, Sendable {
    func update(_ bytes: UnsafeRawBufferPointer) {}
    func finish() -> [UInt8] { [] }
}

private let app = Application()
private var clock: RequestClock { given() }
private var user: User { get { given() } set {} }
private let (showRetry, show, askForSpace) = (app, app, app)
private let (sendToAnotherServer, consume, hash) = (app, app, app)
private let hasher = SHA256Digest()
private let (current, backup, tenant) = ("sha256/…", "sha256/…", "acme")
private var requests: any DataRequestService { given() }
private var transport: CurlTransport { given() }
private var failure: RequestFailure { given() }
private var response: TransportResponse { given() }
private var request: TransportRequest { get { given() } set {} }
private var upload: TransportRequest { get { given() } set {} }
private var download: TransportResponse { given() }
private var published: [UInt8] { [] }
private var proxy: Proxy { given() }
private var date: Date { given() }
private func readPassphrase() throws -> String { "" }
private struct LogFile { func append(_ text: String) throws {} }

// Address/HostName.swift
@Listed private func hostNameExample() async throws -> [Any] {
    try HostName("API.Example.COM.").text      // "api.example.com"
    try HostName("[::1]").isAddress            // true
    try HostName("[::ffff:192.0.2.1]").text    // "192.0.2.1"
}

// Address/Origin.swift
@Listed private func originExample() async throws -> [Any] {
    try RequestURL("https://API.example.com/v1").origin == Origin(scheme: .https, host: HostName("api.example.com"))
}

// Address/RequestURL.swift
@Listed private func requestURLExample() async throws -> [Any] {
    let url = try RequestURL("https://example.com/a b?x=1")
    url.target                    // "/a%20b?x=1"
}

// Address/URLReference.swift
@Listed private func uRLReferenceExample() async throws -> [Any] {
    try URLReference("../g?y").resolved(against: RequestURL("http://a/b/c/d;p?q"))     // http://a/b/g?y
}

// Failure/CircuitOpen.swift
private func circuitOpenExample() async throws {
    if let open = failure.underlying as? CircuitOpen, let time = open.timeLeft { try await clock.sleep(for: time) }
}

// Failure/FailedResponse.swift
private func failedResponseExample(configuration: HTTPDataRequestService.Configuration) {
    var configuration = configuration
    configuration.errorModel = Problem.self
    // …
    show(failure.errorModel(as: Problem.self)?.title ?? failure.message)
}

// Failure/RequestFailure+Changes.swift
private func requestFailureChangesExample() async throws {
    throw failure.with(message: "The name or the password is wrong.").with(remedy: nil)
}

// Failure/RequestFailure+Transmission.swift
private func requestFailureTransmissionExample(order: Order) async throws {
    do throws(RequestFailure) {
        try await requests.post("orders", body: order)
    } catch where error.isUnprocessed {
        sendToAnotherServer()
    }
}

// Failure/RequestFailure.swift
private func requestFailureExample() async {
    do throws(RequestFailure) {
        user = try await requests.get("users/1")
    } catch {
        if error.reason == .timeout { showRetry(error.remedy ?? error.message) }
    }
}

// Failure/RequestFailure.swift
private func requestFailureExample2() async throws -> User? {
    switch failure.status {
    case .notFound?, .gone?: return nil
    case .tooManyRequests?, .serviceUnavailable?: try await clock.sleep(for: failure.retryAfter() ?? .seconds(1))
    default: throw failure
    }
    return user
}

// Files/RequestBody+File.swift
private func requestBodyFileExample() async throws {
    var request = TransportRequest(.put, try RequestURL("https://example.com/films/1"))
    request.body = try .file("/srv/films/1.mp4")
}

// Files/SystemError.swift
private func systemErrorExample() async throws {
    do throws(RequestFailure) {
        try await requests.download("films/1", to: "/srv/films/1.mp4")
    } catch where (error.underlying as? SystemError)?.code == ENOSPC {
        askForSpace()
    }
}

// Hashes/Checksum.swift
private func checksumExample() async throws {
    var options = DownloadOptions()
    options.checksum = Checksum(name: "sha-256", expected: published) { SHA256Digest() }
}

// Hashes/HashFunctions.swift
private func hashFunctionsExample() async throws {
    let hash = HashFunctions { function, bytes in
        function == .sha256 ? Array(SHA256.hash(data: bytes)) : nil
    }
    use(hash)
}

// Message/BodyChunk.swift
private func bodyChunkExample() async throws {
    var lines: [[UInt8]] = []
    for try await chunk in response.body {
        chunk.withUnsafeBytes { hasher.update($0) }
        if let end = chunk.firstIndex(of: UInt8(ascii: "\n")) { lines.append(Array(chunk[..<end])) }
    }
}

// Message/HTTPDate.swift
@Listed private func hTTPDateExample() async throws -> [Any] {
    HTTPDate.text(of: Date(timeIntervalSince1970: 784_111_777))       // "Sun, 06 Nov 1994 08:49:37 GMT"
    HTTPDate.date(from: "Sunday, 06-Nov-94 08:49:37 GMT")
}

// Message/HTTPField+Checked.swift
private func hTTPFieldCheckedExample() async throws {
    request.headerFields.append(try HTTPField.checked(name: "X-Tenant", value: tenant))
}

// Message/RequestBody.swift
private func requestBodyExample(lines: AsyncStream<Data>) async throws {
    request.body = .bytes(Data("hello".utf8))
    request.body = try .file("/srv/films/1.mp4")
    request.body = .stream(lines, length: nil)      // chunked over HTTP/1.1
}

// Message/RequestBody.swift
private func requestBodyExample2() async throws {
    upload.body = .stream(download.body, length: nil)
}

// Message/ResponseBody.swift
private func responseBodyExample() async throws {
    for try await chunk in response.body { consume(chunk) }
    let whole = try await response.body.collect(upTo: 1_000_000)
    use(whole)
}

// Message/ResponseEnding.swift
private func responseEndingExample() async throws {
    for try await chunk in response.body { hash.update(chunk) }
    let announced = response.body.ending?.trailerFields["Content-Digest"]
    use(announced)
}

// Proxy/Proxy.swift
private func proxyExample(configuration: CurlTransport.Configuration) throws {
    var configuration = configuration
    let proxy = try Proxy("http://user:secret@proxy.example.com:3128")
    configuration.proxy = .fixed(proxy, except: ProxyBypass("localhost, .example.com, 10.0.0.0/8"))
}

// Proxy/ProxyBypass.swift
private func proxyBypassExample() async throws {
    let bypass = ProxyBypass("localhost, .example.com, 10.0.0.0/8, [::1], build:8080")
    use(bypass)
}

// Proxy/ProxyPolicy.swift
private func proxyPolicyExample(configuration: CurlTransport.Configuration) throws {
    var configuration = configuration
    configuration.proxy = .direct
    configuration.proxy = .fixed(try Proxy("socks5h://127.0.0.1:9050"))
    configuration.proxy = .deciding { origin in origin.host.text.hasSuffix(".internal") ? nil : proxy }
}

// Transport/Cancellation.swift
private func cancellationExample() async throws {
    let cancellation = Cancellation()
    Task { try await transport.send(request, cancellation: cancellation) }
    cancellation.cancel()        // the request fails as `cancelled`
}

// Transport/RaisablePriority.swift
private func raisablePriorityExample() async throws {
    let priority = RaisablePriority()
    request.raisablePriority = priority
    async let response = transport.send(request)
    priority.raise(to: .interactive)          // somebody waits for the response now
    _ = try await response
}

// Transport/RequestPriority.swift
private func requestPriorityExample() async throws {
    request.options.priority = .background
}

// Transport/Transport.swift
private func transportExample() async throws {
    struct Canned: Transport {
        func send(_ request: TransportRequest) async throws(RequestFailure) -> TransportResponse {
            TransportResponse(HTTPResponse(status: .ok), body: ResponseBody(Data("{}".utf8)))
        }
        func shutdown() async {}
    }
}

// Transport/Transport.swift
private func transportExample2() async throws {
    struct Counting: Transport {
        let transport: CurlTransport
        let counter: Counter

        func send(_ request: TransportRequest) async throws(RequestFailure) -> TransportResponse {
            try await send(request, cancellation: Cancellation())
        }
        func send(
            _ request: TransportRequest, cancellation: Cancellation
        ) async throws(RequestFailure) -> TransportResponse {
            counter.add(1)
            return try await transport.send(request, cancellation: cancellation)
        }
        func shutdown() async { await transport.shutdown() }
    }
}

// Transport/TransportOptions.swift
private func transportOptionsExample() async throws {
    var options = TransportOptions()
    options.totalTimeout = .seconds(5)
}

// Transport/TransportRequest.swift
private func transportRequestExample() async throws {
    var request = TransportRequest(.post, try RequestURL("https://example.com/notes"))
    request.headerFields[.contentType] = "text/plain"
    request.body = .bytes(Data("hello".utf8))
    let response = try await transport.send(request)
    use(response)
}

// Transport/TransportResponse.swift
private func transportResponseExample() async throws {
    let response = try await transport.send(request)
    print(response.status.code, response.headerFields[.contentType] ?? "-", response.body.data?.count ?? 0)
}

// Trust/ClientIdentity.swift
private func clientIdentityExample() async throws {
    let identity = try ClientIdentity(
        certificate: PEM(contentsOfFile: "client.pem"), encryptedKey: PEM(contentsOfFile: "client.key"),
        passphrase: { try readPassphrase() })
    use(identity)
}

// Trust/HostPattern.swift
@Listed private func hostPatternExample() async throws -> [Any] {
    try HostPattern("api.example.com")     // that host
    try HostPattern("*.example.com")       // exactly one more label: a.example.com, but not b.a.example.com
    try HostPattern("**.example.com")      // example.com and all names below it
}

// Trust/HostRule.swift
private func hostRuleExample() async throws {
    let rules = [
        try HostRule("**.example.com", pins: PinSet([.publicKey(current), .publicKey(backup)])),
        try HostRule.unpinned("static.example.com"),
    ]
    use(rules)
}

// Trust/Pin.swift
private func pinExample() async throws {
    let pin = try Pin.publicKey("sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=")
    use(pin)
}

// Trust/PinSet.swift
private func pinSetExample() async throws {
    let pins = try PinSet([.publicKey(current), .publicKey(backup)], expires: date, onExpiry: .anchorsOnly)
    use(pins)
}

// Trust/TrustAnchors.swift
private func trustAnchorsExample() async throws {
    let company = try TrustAnchors.only([PEM(contentsOfFile: "company-ca.pem")])
    let installed = TrustAnchors.system.ignoringEnvironment  // ignores SSL_CERT_FILE
    use(company, installed)
}

// Trust/TrustFacts.swift
private func trustFactsExample() async throws {
    request.options.recordsTrust = true
    let trust = try await transport.send(request).connection.trust
    if let match = trust?.match { print("\(match.pin) of \(match.certificate.subject)") }
}

// Trust/TrustPolicy.swift
private func trustPolicyExample2() async throws {
    let policy = try TrustPolicy(
        hosts: [HostRule("**.example.com", pins: PinSet([.publicKey(current), .publicKey(backup)]))],
        unlistedHosts: .refused)
    use(policy)
}

// Trust/TrustReport.swift
private func trustReportExample(transport: CurlTransport, logFile: LogFile) async throws {
    for await report in transport.trustReports { try logFile.append(report.json + "\n") }
}
