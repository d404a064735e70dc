internal import EssentialsTestKit
internal import ServiceEssentials
internal import Synchronization

/// One server and the services that send requests to it.
final class Lane: Sendable {
    enum Kind: String, CaseIterable, Sendable {
        case h1, h1tls, h2, h2tls

        /// The lane's share of one hundred responses.
        var share: Int {
            switch self {
            case .h1: 40
            case .h1tls: 20
            case .h2: 25
            case .h2tls: 15
            }
        }

        var isTLS: Bool { self == .h1tls || self == .h2tls }
        var isHTTP2: Bool { self == .h2 || self == .h2tls }
    }

    /// The bytes that the server sends next.
    private final class Next: Sendable {
        private let bytes = Mutex<[UInt8]>([])

        var value: [UInt8] {
            get { bytes.withLock { $0 } }
            set { bytes.withLock { $0 = newValue } }
        }
    }

    private let kind: Kind
    private let index: Int
    private let seed: UInt64
    private let shows: Bool
    private let next: Next
    private let server: LoopbackServer
    private let transport: CurlTransport
    private let reader: ResponseReading

    /// - Parameter shows: Whether each failure is printed.
    init(_ kind: Kind, index: Int, seed: UInt64, shows: Bool) throws {
        (self.kind, self.index, self.seed, self.shows) = (kind, index, seed, shows)
        let next = Next()
        self.next = next
        let authority = try TestAuthority(name: "Fuzz")
        let certificate = try authority.issue(TestCertificate.Template(commonName: "localhost"))
        var options = ServerOptions(recordedRequestMaximum: 0)
        if kind.isHTTP2 {
            options.onConnect = { _ in
                [.receive(until: Self.hasRequest), .send(next.value), .pause(.milliseconds(1)), .close]
            }
        }
        let tls = kind.isTLS ? ServerTLS(certificate: certificate, alpn: [kind.isHTTP2 ? "h2" : "http/1.1"]) : nil
        server = try LoopbackServer(tls: tls, options: options) { request in
            request.path.hasPrefix("/good") ? .response(body: request.target) : .raw([.send(next.value), .close])
        }
        var configuration = CurlTransport.Configuration()
        configuration.proxy = .direct
        // The frames belong to a connection's first stream.
        if kind.isHTTP2 { configuration.connectionCacheSize = 0 }
        transport = try CurlTransport(
            trust: TrustPolicy(anchors: try .only([PEM(authority.certificate.certificatePEM)])),
            configuration: configuration)
        reader = try ResponseReading(url: server.url, transport: transport, isHTTP2: kind.isHTTP2)
    }

    func end() async {
        await transport.shutdown()
        server.stop()
    }

    /// Makes the server send one damaged response, and a valid one after it.
    func run(_ number: Int, into findings: inout Findings) async {
        CrashReport.note(number, of: kind, lane: index)
        let start = seed &* 0x9e37_79b9_7f4a_7c15 &+ UInt64(number) << 2 &+ UInt64(index)
        var mutator = Mutator(numbers: SeededNumbers(state: start))
        let bytes =
            kind.isHTTP2
            ? FrameCorpus.damaged(&mutator)
            : mutator.damage(mutator.numbers.pick(ResponseCorpus.responses), beside: ResponseCorpus.responses)
        next.value = bytes
        let name = "\(kind.rawValue) \(number)"
        let outcome = await reader.read(mutator.numbers.below(ResponseReading.ways), number: number)
        switch outcome {
        case .success(let status):
            findings.outcomes["success", default: 0] += 1
            if let status, !kind.isHTTP2, !Self.hasStatusLine(status, in: bytes) {
                findings.found("\(name): status \(status), which no line of the response has")
            }
        case .failure(let failure):
            findings.outcomes["\(failure.reason)", default: 0] += 1
            if shows { print("\(name): \(failure)") }
            if failure.reason == .timeout { findings.found("\(name): \(failure)") }
        }
        await expectSoundResponse(number, name, into: &findings)
    }

    /// Checks that earlier responses are not taken for the response to this request.
    private func expectSoundResponse(_ number: Int, _ name: String, into findings: inout Findings) async {
        let path = "good/\(number)"
        next.value = (FrameCorpus.sound + [FrameCorpus.head("200"), FrameCorpus.data("/" + path)]).flatMap(\.bytes)
        for attempt in 1... {
            do throws(RequestFailure) {
                let text = try await reader.sound(path)
                if text != "/" + path { findings.found("\(name): the next response is \(text.debugDescription)") }
                return
            } catch {
                // The server closes its connections, which a request may notice too late.
                guard attempt == 3 else { continue }
                return findings.found("\(name): the next request fails: \(error)")
            }
        }
    }

    /// Whether the bytes sent by an HTTP/2 client contain a HEADERS frame.
    private static func hasRequest(_ bytes: [UInt8]) -> Bool {
        var place = 24
        while place + 9 <= bytes.count {
            if bytes[place + 3] == 1 { return true }
            place += 9 + Int(bytes[place]) << 16 + Int(bytes[place + 1]) << 8 + Int(bytes[place + 2])
        }
        return false
    }

    private static func hasStatusLine(_ status: Int, in bytes: [UInt8]) -> Bool {
        ["HTTP/1.0 \(status)", "HTTP/1.1 \(status)"].contains { line in
            let line = Array(line.utf8)
            return bytes.count >= line.count
                && (0...bytes.count - line.count).contains { bytes[$0..<$0 + line.count].elementsEqual(line) }
        }
    }
}
