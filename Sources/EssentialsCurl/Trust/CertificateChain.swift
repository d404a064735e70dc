import CEssentials
public import EssentialsTransport
import Glibc

/// Certificates looked at for their pins: a server's, or those of a PEM file.
///
/// ```swift
/// let chain = try CertificateChain.presented(by: HostName("example.com"), trust: CompiledTrust(.system))
/// for certificate in chain.certificates { print(certificate.publicKeyPin.text) }
/// ```
public struct CertificateChain: Sendable {
    /// The certificates, leaf first. Of a trusted server the verified path, with its root; else what was presented.
    public let certificates: [CertificateFacts]
    /// Why the chain is not trusted; nil when it is, or when it comes from a file.
    public let distrust: RequestFailure?

    /// Reads the certificates of a PEM text.
    ///
    /// - Throws: `invalidPolicy` when one cannot be read.
    public init(_ pem: PEM) throws(RequestFailure) {
        var report = ce_report()
        var error = ce_trust_error()
        var text = pem.text
        let count = text.withUTF8 { bytes in
            bytes.withMemoryRebound(to: CChar.self) { characters in
                characters.baseAddress.map { ce_inspect_pem($0, characters.count, &report, &error) } ?? -1
            }
        }
        guard count > 0 else {
            throw RequestFailure(
                .invalidPolicy, "A certificate could not be read: \(GateReport.text(of: error.text)).",
                remedy: "Check that the file holds whole certificates in PEM form.")
        }
        certificates = GateReport(&report).chain
        distrust = nil
    }

    private init(report: GateReport, host: HostName) {
        certificates = report.chain
        distrust = report.failure(host: host.text, phase: .handshake)
    }

    /// Connects to a server, looks at its certificates, sends no request and hangs up. Blocks the calling thread; name
    /// resolution is not counted in the time-out.
    ///
    /// - Parameters:
    ///   - host: The server.
    ///   - port: Its port.
    ///   - trust: By which the chain is judged for ``distrust``.
    ///   - timeout: For connection and handshake.
    /// - Throws: `nameResolution`, `connection`, `timeout` or `tls`, and `hostRefused` for a host that the policy refuses;
    ///   an untrusted chain is not an error.
    public static func presented(
        by host: HostName, port: UInt16 = 443, trust: CompiledTrust, timeout: Duration = .seconds(10)
    ) throws(RequestFailure) -> CertificateChain {
        let milliseconds = Int32(clamping: max(1, timeout.milliseconds))
        let rule = try trust.rule(for: host)
        var last: RequestFailure?
        for address in try addresses(of: host) {
            var report = ce_report()
            let result = ce_probe(host.text, address, port, trust.pointer, rule, milliseconds, &report)
            let found = GateReport(&report)
            if result == CE_PROBE_OK { return CertificateChain(report: found, host: host) }
            last = failure(result, text: found.text, host: host, port: port)
        }
        throw last ?? RequestFailure(.nameResolution, "\(host) has no address.", host: host.text)
    }

    private static func failure(
        _ result: ce_probe_result, text: String, host: HostName, port: UInt16
    ) -> RequestFailure {
        switch result {
        case CE_PROBE_CONNECT:
            RequestFailure(
                .connection, "\(host):\(port) could not be reached: \(text).", phase: .connect, host: host.text)
        case CE_PROBE_TIMEOUT:
            RequestFailure(.timeout, "\(host):\(port) did not answer in time.", phase: .connect, host: host.text)
        default:
            RequestFailure(
                .tls, "The TLS handshake with \(host):\(port) failed: \(text).", phase: .handshake, host: host.text)
        }
    }

    private static func addresses(of host: HostName) throws(RequestFailure) -> [String] {
        if host.isAddress { return [host.text] }
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        let code = getaddrinfo(host.text, nil, &hints, &list)
        guard code == 0 else {
            throw RequestFailure(
                .nameResolution, "\(host) has no address: \(String(cString: gai_strerror(code))).",
                phase: .nameResolution, host: host.text)
        }
        defer { freeaddrinfo(list) }
        var addresses: [String] = []
        var next = list
        while let entry = next?.pointee {
            var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
            if getnameinfo(
                entry.ai_addr, entry.ai_addrlen, &text, socklen_t(text.count), nil, 0, NI_NUMERICHOST) == 0
            {
                addresses.append(String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self))
            }
            next = entry.ai_next
        }
        return addresses
    }
}
