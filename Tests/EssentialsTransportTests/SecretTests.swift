import EssentialsTools
import EssentialsTransport
import FoundationEssentials
import TestTools
import Testing

/// A secret that is put into every value that can hold one.
private let marker = "hunter2-marker"

private func pem(_ label: String) throws -> PEM {
    try PEM("-----BEGIN \(label)-----\n\(marker)\n-----END \(label)-----\n")
}

@Suite("Secrets of transport values") struct SecretTests {
    private static func values() throws -> [(name: String, value: Any)] {
        let identity = try ClientIdentity(certificate: pem("CERTIFICATE"), privateKey: pem("PRIVATE KEY"))
        let encrypted = try ClientIdentity(
            certificate: pem("CERTIFICATE"), encryptedKey: pem("ENCRYPTED PRIVATE KEY"), passphrase: { marker })
        let trust = TrustPolicy(identity: identity)
        var options = TransportOptions()
        options.trust = trust
        let proxy = try Proxy("http://user:\(marker)@proxy.test:1")
        let fields: HTTPFields = [.authorization: "Bearer \(marker)", .cookie: "a=\(marker)"]
        let url = try RequestURL("https://api.test/a?token=\(marker)")
        let body = RequestBody.bytes(Data(marker.utf8))
        let request = TransportRequest(.post, url, headerFields: fields, body: body, options: options)
        let head = HTTPResponse(status: .ok, headerFields: [.setCookie: marker])
        let response = TransportResponse(
            head, body: ResponseBody(Data(marker.utf8)), trailerFields: [.setCookie: marker], informational: [head])
        var failed = FailedResponse(head: head, body: Data(marker.utf8))
        failed.model = marker
        return [
            ("PEM", try pem("PRIVATE KEY")), ("ClientIdentity", identity), ("encrypted ClientIdentity", encrypted),
            ("TrustPolicy", trust), ("TransportOptions", options), ("Proxy", proxy),
            ("ProxyPolicy", ProxyPolicy.fixed(proxy)), ("RequestBody", body), ("TransportRequest", request),
            ("ResponseBody", response.body), ("TransportResponse", response), ("FailedResponse", failed),
            ("ResponseEnding", ResponseEnding(trailerFields: [.setCookie: marker], metrics: TransportMetrics())),
            ("RequestFailure", RequestFailure(.status, "It failed.", response: failed)),
            ("an array of them", [Optional(request)]), ("a dictionary of them", ["key": identity]),
        ]
    }

    @Test("Neither printing nor reflection shows a value's secrets")
    func hidden() throws {
        for (name, value) in try Self.values() {
            #expect(!shown(value).contains(marker), "\(name): \(shown(value))")
        }
    }

    @Test("A dump shows the values that are not secret")
    func visible() throws {
        let values = try Dictionary(Self.values().map { ($0.name, shown($0.value)) }) { first, _ in first }
        #expect(values["ClientIdentity"]?.contains("PRIVATE KEY") == true)
        for text in ["https://api.test/a?…", "Authorization", "\(marker.utf8.count) bytes", "POST"] {
            #expect(values["TransportRequest"]?.contains(text) == true, "\(text)")
        }
        #expect(values["TransportResponse"]?.contains("Set-Cookie") == true)
    }
}
