import CEssentials
import EssentialsTools
public import EssentialsTransport

/// The certificates of a server or of a PEM file, with their pins.
///
/// ```swift
/// let chain = try CertificateChain.presented(by: HostName("example.com"), trust: CompiledTrust(.system))
/// for certificate in chain.certificates { print(certificate.publicKeyPin.text) }
/// ```
public struct CertificateChain: Sendable {
    /// The certificates, leaf first. For a trusted server they are the verified path including its root, and otherwise
    /// the chain that the server presented.
    public let certificates: [CertificateFacts]
    /// Why the chain is not trusted. It is `nil` for a trusted chain, and for certificates of a file.
    public let distrust: RequestFailure?

    /// Reads the certificates of a PEM text.
    ///
    /// - Throws: `invalidPolicy` if one cannot be read.
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
            throw Failures.certificate(error)
        }
        certificates = GateReport(&report).chain
        distrust = nil
    }

    private init(report: GateReport, host: HostName) {
        certificates = report.chain
        distrust = report.failure(host: host.text, phase: .handshake)
    }

    /// Connects to a server, reads its certificates and closes the connection without a request.
    ///
    /// The call blocks its thread. The timeout does not include name resolution.
    ///
    /// - Parameters:
    ///   - host: The server.
    ///   - port: Its port.
    ///   - trust: The policy that judges the chain for ``distrust``.
    ///   - timeout: The limit for connecting and for the handshake.
    /// - Throws: `nameResolution`, `connection`, `timeout` or `tls`, and `hostRefused` for a host that the policy
    ///   refuses. An untrusted chain is not an error.
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
            last = Failures.probe(result, found, host: host, port: port)
        }
        throw last ?? Failures.unresolved(host)
    }

    private static func addresses(of host: HostName) throws(RequestFailure) -> [String] {
        if host.isAddress { return [host.text] }
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        let code = getaddrinfo(host.text, nil, &hints, &list)
        guard code == 0 else {
            throw Failures.unresolved(host, code)
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
