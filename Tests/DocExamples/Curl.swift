// swift-format-ignore-file
// The code stands as in the documentation comments.

import EssentialsTransport
import Logging
import ServiceEssentials

@testable import EssentialsCurl

private let logger = Logger(label: "app")
private var transport: CurlTransport { given() }
private var url: RequestURL { given() }
private var policy: TrustPolicy { given() }
private var partnersPolicy: TrustPolicy { given() }
private var trust: CompiledTrust { given() }
private var request: TransportRequest { get { given() } set {} }
private var peerCertificates: [[UInt8]] { [] }
private var context: OpaquePointer { given() }
private var ssl: OpaquePointer { given() }

// CurlTransport+Shared.swift
private func curlTransportSharedExample() async throws {
    let response = try await CurlTransport.shared().send(request)
    use(response)
}

// CurlTransport.swift
private func curlTransportExample() async throws {
    let transport = try CurlTransport(trust: TrustPolicy(pins: [.publicKey("sha256/…"), .publicKey("sha256/…")]))
    let response = try await transport.send(TransportRequest(.get, RequestURL("https://api.example.com/")))
    await transport.shutdown()
    use(response)
}

// CurlTransport.swift
private func curlTransportExample2() async throws {
    let executor = transport.taskExecutor(for: url.origin)
    let response = try await withTaskExecutorPreference(executor) { try await transport.send(request) }
    use(response)
}

// CurlTransport.swift
private func curlTransportExample3() async throws {
    let load = await transport.load
    logger.info("http", metadata: ["waiting": "\(load.waiting)", "longest": "\(load.longestWait)"])
    for origin in load.origins { print(origin.origin, origin.active, origin.idle) }
}

// Transport/ConnectionEvent.swift
private func connectionObserverExample() {
    var configuration = CurlTransport.Configuration()
    struct ConnectionLog: ConnectionObserver {
        func observe(_ event: ConnectionEvent) {
            if case .closed(let lifetime, let served) = event.kind { print(event.origin, lifetime, served) }
        }
    }
    configuration.connectionObservers = [ConnectionLog()]
}

// Transport/TransportLoad.swift
private func loadReportingExample() async {
    let transport: any Transport = transport
    let load = await (transport as? any LoadReporting)?.load
    use(load as Any)
}

// CurlTransports.swift
private func curlTransportsExample() async throws {
    let transports = CurlTransports(trust: policy)
    request.options.trust = partnersPolicy
    let response = try await transports.send(request)
    use(response)
}

// OpenSSLHashes.swift
private func openSSLHashesExample() async throws {
    var options = DownloadOptions()
    options.checksum = try .sha256("9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08")
}

// Trust/CertificateChain.swift
private func certificateChainExample() async throws {
    let chain = try CertificateChain.presented(by: HostName("example.com"), trust: CompiledTrust(.system))
    for certificate in chain.certificates { print(certificate.publicKeyPin.text) }
}

// Trust/CompiledTrust+Hosts.swift
private func compiledTrustHostsExample() async throws {
    let path = try trust.evaluate(chain: peerCertificates, host: HostName("stream.example.com"))
    use(path)
}

// Trust/CompiledTrust+Hosts.swift
private func compiledTrustHostsExample2() async throws {
    try trust.install(on: context, host: HostName("stream.example.com"))   // before SSL_new
    // SSL_set_tlsext_host_name(ssl, "stream.example.com"), SSL_connect(ssl)
    try trust.judge(ssl, host: HostName("stream.example.com"))              // after the handshake, resumed or not
}

// Trust/CompiledTrust.swift
private func compiledTrustExample() async throws {
    let trust = try CompiledTrust(TrustPolicy(anchors: .only([PEM(contentsOfFile: "ca.pem")])))
    let transport = try CurlTransport(trust: trust)
    use(transport)
}
