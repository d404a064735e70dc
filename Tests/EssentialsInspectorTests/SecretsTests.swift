import EssentialsHTTP
import EssentialsInspector
import EssentialsObservability
import EssentialsRequests
import EssentialsTestKit
import EssentialsTools
import FoundationEssentials
import Logging
import Testing

#if Server || Inspector
    import InMemoryTracing
#endif

/// Sends secrets in every place that has a name, and looks for them in all that observers write.
@Suite("Secrets")
struct SecretsTests {
    private static let names = [
        "Authorization", "X-Passphrase", "Cookie", "X-Api-Key", "X-Auth-Token", "X-Csrf-Token",
        "X-Amz-Security-Token",
        "X-Amz-Signature", "Private-Token", "X-Session-Id", "X-Client-Secret", "X-Password", "X-Otp", "X-Pin", "X-Jwt",
        "DPoP",
        "access_token", "refresh_token", "id_token", "client_secret", "client_assertion", "code_verifier", "password",
        "passwd",
        "api_key", "apikey", "session", "sid", "signature", "sig", "hmac", "pin", "otp", "jwt", "secret", "token",
        "credential",
        "private_key", "userPin", "accessToken",
    ]

    /// Keeps the lines of a log.
    private final class Lines: LogHandler, @unchecked Sendable {
        // The lock protects the text; the rest is set before the handler is used.
        static let text = Mutex("")
        var logLevel = Logger.Level.trace
        var metadata: Logger.Metadata = [:]

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let line = "\(event.message) \(event.metadata ?? [:])\n"
            Self.text.withLock { $0 += line }
        }
    }

    private static func value(_ index: Int) -> String { "s3cret\(index)" }

    private func requests() throws -> [DataRequest] {
        var requests: [DataRequest] = []
        for (index, name) in Self.names.enumerated() {
            let value = Self.value(index)
            let path = "a?\(name)=\(value)&next=https%3A%2F%2Fu%3A\(value)%40h%2F%3F\(name)%3D\(value)"
            var get = DataRequest(.get, path)
            if name != "Cookie" { get.headerFields.append(try .checked(name: name, value: value)) }
            get.headerFields[.referer] = "https://u:\(value)@h/?\(name)=\(value)#\(name)=\(value)"
            requests.append(get)
            requests.append(
                DataRequest(.post, "form", body: .parameters(FormParameters([name: value]), as: .form)))
            requests.append(DataRequest(.post, "json", body: .json(["a": [.object([name: .string(value)])]])))
        }
        return requests
    }

    @Test("No secret of forty names is in a log, a record, a command, a span or a page")
    func nowhere() async throws {
        let transport = ScriptedTransport()
        transport.on { _ in true }.answer { request in
            let index = Self.names.indices.first { request.text.contains(Self.value($0)) } ?? 0
            let (name, value) = (Self.names[index], Self.value(index))
            var answer = ScriptedAnswer(json: [name: JSONValue(value), "s": "{\"\(name)\":\"\(value)\"}"])
            answer.headerFields[.setCookie] = "sid=\(value)"
            answer.headerFields[.location] = "/x?\(name)=\(value)#\(name)=\(value)"
            return answer
        }
        let (recorder, inspector) = (HARRecorder(bodyLimit: 1 << 16), Inspector(bodyLimit: 1 << 16))
        var configuration = HTTPDataRequestService.Configuration()
        configuration.observers = [recorder, inspector]
        configuration.redaction.query = .hidden([])
        configuration.logsCommands = true
        configuration.logger = Logger(label: "secrets") { _ in Lines() }
        configuration.logger.logLevel = .trace
        #if Server || Inspector
            let tracer = InMemoryTracer()
            configuration.observers.append(TracingObserver(tracer: tracer))
        #endif
        let service = HTTPDataRequestService(
            environment: try ConstantEnvironment("https://h/"), transport: transport, configuration: configuration)
        let base = try RequestURL("https://h/")
        var commands = ""
        for request in try requests() {
            _ = try await service.send(request)
            commands += try request.curlCommand(under: base) + "\n"
        }
        var outputs = [
            "log": Lines.text.withLock { $0 }, "record": String(decoding: recorder.har.data, as: UTF8.self),
            "commands": commands, "page": await inspector.report().page,
        ]
        #if Server || Inspector
            outputs["spans"] = "\(tracer.finishedSpans)"
        #endif
        for (name, text) in outputs {
            #expect(text.count > 1_000, "\(name)")
            let first = text.firstRange(of: "s3cret").map { text[$0.lowerBound...].prefix(100) }
            let before = text.firstRange(of: "s3cret").map { text[..<$0.lowerBound].suffix(300) }
            #expect(first == nil, "\(name): \(before ?? "")\(first ?? "")")
        }
    }
}

extension RecordedRequest {
    /// All that was sent, as text.
    fileprivate var text: String {
        "\(url) \(headerFields.map(\.value)) \(String(decoding: body, as: UTF8.self))"
    }
}
