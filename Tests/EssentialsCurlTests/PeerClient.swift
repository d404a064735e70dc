import CEssentialsTest
import EssentialsCurl
import EssentialsHTTP
import EssentialsTestKit
import FoundationEssentials
import Glibc

/// An `SSL_CTX` for clients, as in a program that uses OpenSSL itself. One thread at a time may use it.
final class PeerContext {
    private let pointer: OpaquePointer

    /// - Parameters:
    ///   - trust: The policy to install; `nil` installs none.
    ///   - host: The host that the policy is installed for.
    ///   - isLoose: Whether the context accepts any peer before the policy is installed.
    init(
        _ trust: CompiledTrust?, host: String = "pin.test", isLoose: Bool = false,
        versions: ClosedRange<ServerTLS.Version> = .tls12 ... .tls13
    ) throws {
        var options = cet_options()
        options.minimum_version = versions.lowerBound.rawValue
        options.maximum_version = versions.upperBound.rawValue
        var error = cet_error()
        let anchors = try Fixture.text("root.pem")
        guard let pointer = cet_client_context_create(&options, anchors, nil, nil, "http/1.1", &error) else {
            throw TestKitError("no context")
        }
        self.pointer = pointer
        if isLoose { loosen() }
        if let trust { try install(trust, host: host) }
    }

    deinit { cet_context_free(pointer) }

    /// Installs a policy.
    func install(_ trust: CompiledTrust, host: String = "pin.test") throws {
        try trust.install(on: OpaquePointer(cet_context_handle(pointer)), host: HostName(host))
    }

    /// The reason for which an installed policy refused the last handshake.
    func refusal(under trust: CompiledTrust, host: String = "pin.test") throws -> RequestFailure? {
        try trust.refusal(on: OpaquePointer(cet_context_handle(pointer)), host: HostName(host))
    }

    /// Makes the context accept any peer.
    func loosen() { _ = cet_context_loosen(pointer) }

    /// Connects and performs the client's side of a handshake, with `host` as the server's name.
    func connect(
        to server: LoopbackServer, as host: String = "pin.test", resuming session: PeerSession? = nil
    ) throws -> PeerConnection {
        try PeerConnection(pointer, port: server.port, host: host, session: session)
    }
}

/// A session that is kept for resumption.
final class PeerSession {
    fileprivate let pointer: OpaquePointer

    fileprivate init(_ pointer: OpaquePointer) { self.pointer = pointer }

    deinit { cet_session_free(pointer) }
}

/// A TLS connection after an attempted handshake. One thread at a time may use it.
final class PeerConnection {
    private let channel: SocketChannel
    private let tls: OpaquePointer
    /// Whether the handshake was completed.
    let isEstablished: Bool
    /// Whether it resumed a session.
    let isResumed: Bool

    fileprivate init(_ context: OpaquePointer, port: UInt16, host: String, session: PeerSession?) throws {
        PeerClient.blockBrokenPipeSignal()
        guard let channel = SocketChannel(port: port), let tls = cet_tls_create(context, channel.descriptor) else {
            throw TestKitError("no connection")
        }
        // A handshake that hangs fails instead.
        guard cet_socket_limit_reading(channel.descriptor, 30) else { throw TestKitError("no time limit") }
        self.channel = channel
        self.tls = tls
        isEstablished = cet_tls_connect(tls, host, session?.pointer)
        isResumed = cet_tls_handshake(tls).resumed
    }

    deinit {
        cet_tls_free(tls)
        channel.close()
    }

    /// The failure of judging the connection, or `nil` if the policy accepts it.
    func failure(under trust: CompiledTrust, host: String = "pin.test") throws -> RequestFailure? {
        let name = try HostName(host)
        do throws(RequestFailure) {
            try trust.judge(OpaquePointer(cet_tls_handle(tls)), host: name)
            return nil
        } catch {
            return error
        }
    }

    /// Sends a request, and returns whether the response was "ok". Under TLS 1.3 it also receives tickets.
    func exchange(host: String = "pin.test") -> Bool {
        PeerClient.blockBrokenPipeSignal()
        let request = Array("GET / HTTP/1.1\r\nHost: \(host)\r\nConnection: close\r\n\r\n".utf8)
        guard cet_tls_write(tls, request, request.count) else { return false }
        var answer: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = cet_tls_read(tls, &buffer, buffer.count)
            guard count > 0 else { break }
            answer += buffer[..<count]
        }
        return answer.holds("200") && answer.suffix(2).elementsEqual("ok".utf8)
    }

    /// The session after an exchange, with its attached data.
    func session() -> PeerSession? { cet_tls_session(tls).map(PeerSession.init) }
}

enum PeerClient {
    /// Blocks the signal with which OpenSSL's use of `write` would end the test process after the peer has closed.
    static func blockBrokenPipeSignal() {
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGPIPE)
        pthread_sigmask(SIG_BLOCK, &signals, nil)
    }
}

/// Creates a value that expires a few seconds later, and waits until it has expired.
///
/// - Parameter make: Creates the value and uses it before it expires. It is called again with more time if it took too
///   long, so it must return its findings instead of checking expectations.
func outlived<Value>(_ make: (Date) async throws -> Value) async throws -> Value {
    for seconds in [2.0, 8, 32] {
        let end = Date(timeIntervalSince1970: (Date().timeIntervalSince1970 + seconds).rounded(.down))
        let value = try await make(end)
        guard Date() < end else { continue }
        // Two seconds are added, because a certificate's validity is counted in whole seconds from its creation, which
        // may have been one second later.
        while Date() < end + 2.1 { try await Task.sleep(for: .milliseconds(20)) }
        return value
    }
    throw TestKitError("too slow for a moment half a minute ahead")
}
