import EssentialsCurl
import EssentialsTestKit
import Foundation
import ServiceEssentials

// Failures before a connection and in the TLS handshake.
extension FailureMaker {
    static func preparation() async throws -> [PrintedFailure] {
        let passphrase: @Sendable () -> String = { Secret.passphrase }
        return try await [
            thrown("A URL with a user and a password") {
                _ = try RequestURL("https://ada:\(Secret.user)@a.example/?token=\(Secret.query)")
            },
            thrown("A header field with a line break") {
                _ = try HTTPField.checked(name: "Authorization", value: "Bearer \(Secret.token)\r\nX: y")
            },
            thrown("A malformed pin") { _ = try Pin.publicKey("sha256/short") },
            thrown("A client key with the wrong passphrase") {
                let identity = try ClientIdentity(
                    certificate: pem("client-a.pem"), encryptedKey: pem("client-a-encrypted.key"),
                    passphrase: passphrase)
                _ = try CompiledTrust(TrustPolicy(anchors: anchors(), identity: identity))
            },
            thrown("A missing file as the body") { _ = try RequestBody.file("/nowhere/film.mp4") },
            failure("An unencrypted URL of a pinned host", nil, url: "http://pin.test/", policy: pinned()),
            failure("A host that the policy does not list", nil, url: "https://other.test/", policy: pinned()),
            failure("A request with another policy than its transport's", nil, url: "https://pin.test/") {
                $0.options.trust = try pinned()
            },
            failure("A request with Proxy-Authorization", nil, url: "https://pin.test/") {
                $0.headerFields[.init("Proxy-Authorization")!] = "Basic \(Secret.proxy)"
            },
        ]
    }

    /// A policy for `pin.test` alone, whose pins no certificate has by default.
    static func pinned(
        _ pin: Pin? = nil, minimumTLS: TLSVersion = .tls12, revocation: Revocation = .none
    ) throws -> TrustPolicy {
        let strange = try Pin(kind: .publicKey, digest: Array(repeating: 7, count: 32))
        let pins = try PinSet([pin ?? strange], acceptsSinglePin: true)
        return try TrustPolicy(
            hosts: [HostRule("pin.test", pins: pins)], unlistedHosts: .refused, anchors: anchors(),
            minimumTLS: minimumTLS, revocation: revocation, identity: identity())
    }

    static func connections() async throws -> [PrintedFailure] {
        let closed = try RefusingPort()
        let port = closed.port
        let refusing = try plain(.text("HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n"))
        let proxy = try Proxy("http://ada:\(Secret.proxy)@127.0.0.1:\(refusing.port)")
        let gone = try Proxy("http://ada:\(Secret.proxy)@127.0.0.1:\(port)")
        let replaced = [(":\(refusing.port)", ":PORT"), (":\(port)", ":PORT")]
        var all = try await [
            failure("A name without an address", nil, url: "https://nope.invalid/"),
            failure("A port on which nothing listens", nil, url: "https://127.0.0.1:\(port)/"),
            failure(
                "A Unix-domain socket without a server", nil, url: "http://pin.test/",
                configuration: { $0.unixSocket = "/nowhere/socket" }),
            failure(
                "A proxy on whose port nothing listens", nil, url: "https://pin.test/",
                configuration: { $0.proxy = .fixed(gone) }),
            failure(
                "A proxy that does not accept the password", nil, url: "https://pin.test/",
                configuration: { $0.proxy = .fixed(proxy) }),
        ]
        withExtendedLifetime(closed) {}
        for index in all.indices { all[index].replacements += replaced }
        return all
    }

    static func handshakes() async throws -> [PrintedFailure] {
        func only(_ version: ServerTLS.Version) throws -> LoopbackServer {
            try server { ($0.minimumVersion, $0.maximumVersion) = (version, version) }
        }
        return try await [
            failure("A server that offers only TLS 1.0", only(.tls10)),
            failure("A server that offers only TLS 1.1", only(.tls11)),
            failure(
                "A server that offers only TLS 1.2 under a policy that requires TLS 1.3", only(.tls12),
                policy: pinned(minimumTLS: .tls13)),
            failure("A server that chooses TLS 1.1 whatever the client offers", hello(2), scheme: "https"),
            failure(
                "A server that chooses TLS 1.2 under a policy that requires TLS 1.3", hello(3), scheme: "https",
                policy: pinned(minimumTLS: .tls13)),
            failure("A server without TLS", greeting("HTTP/1.1 400 \(Secret.answer)\r\n\r\n"), scheme: "https"),
            failure("An SSH server", greeting("SSH-2.0-\(Secret.answer)\r\n"), scheme: "https"),
            failure("A mail server", greeting("220 \(Secret.answer) ESMTP\r\n"), scheme: "https"),
            failure(
                "A server that responds to a handshake with something else", greeting(Secret.answer), scheme: "https"),
            failure("A server that closes the connection during the handshake", greeting(""), scheme: "https"),
            failure(
                "A server that requires a client certificate",
                server {
                    ($0.minimumVersion, $0.maximumVersion) = (.tls12, .tls12)
                    $0.clientAuthentication = .require(anchor: $0.certificate)
                }, policy: TrustPolicy(anchors: anchors())),
        ]
    }

    /// A server that begins with a ServerHello of a version, whatever it has received.
    private static func hello(_ version: UInt8) throws -> LoopbackServer {
        let body: [UInt8] = [3, version] + Array(repeating: 7, count: 32) + [0, 0xC0, 0x2F, 0]
        let record = [0x16, 3, version, 0, UInt8(body.count + 4), 2, 0, 0, UInt8(body.count)] + body
        let options = ServerOptions(onAccept: { _ in
            [.receive(until: { !$0.isEmpty }), .send(record), .waitForPeerClose]
        })
        return try LoopbackServer(options: options) { _ in .close }
    }
}
