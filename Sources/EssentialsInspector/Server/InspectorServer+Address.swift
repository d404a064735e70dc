#if Inspector
    import EssentialsHTTP
    import NIOSSL

    extension InspectorServer {
        /// What an ``InspectorServer`` listens on.
        public struct Address: Sendable, CustomStringConvertible {
            enum Kind: Sendable {
                case loopback(port: Int)
                case unixSocket(path: String)
                case exposed(Exposed)
            }

            struct Exposed: Sendable {
                let host: String
                let port: Int
                let tls: TLSFiles
                /// The name in the address of the page. An IPv6 address is in brackets.
                let name: String
            }

            let kind: Kind
            let hosts: Set<String>
            let token: String
            var isSecure: Bool { if case .exposed = kind { true } else { false } }

            private init(_ kind: Kind, hosts: Set<String> = [], token: String = .randomAlphanumeric(32)) {
                (self.kind, self.hosts, self.token) = (kind, hosts, token)
            }

            /// A port of 127.0.0.1, and the same port of ::1 if it is there and free.
            ///
            /// All users of the machine can connect, so the token protects the page.
            ///
            /// - Parameter port: The port. 0 takes a free one.
            public static func loopback(port: Int) -> Address { Address(.loopback(port: port)) }

            /// A Unix-domain socket that only the user of the program can open (mode 0600).
            ///
            /// A socket that an ended program has left is replaced, but no other file, and no socket that still accepts
            /// connections. The socket is removed at the end.
            ///
            /// - Parameter path: The path of the socket, of at most 107 bytes. Its folder exists.
            public static func unixSocket(path: String) -> Address { Address(.unixSocket(path: path)) }

            /// A port that other machines can reach, over TLS.
            ///
            /// Whoever has the token sees all that the program sends and loads. Prefer a Unix-domain socket and
            /// `ssh -L 8080:/run/shop/inspector.sock host`.
            ///
            /// - Parameters:
            ///   - host: The name or the address to listen on, such as `dev.example` or `0.0.0.0`.
            ///   - port: The port. 0 takes a free one.
            ///   - token: The secret in the page's address: at least 16 letters, digits and characters of `-._~`.
            ///   - tls: The certificate and its key.
            ///   - names: The names of the server in addresses, if they differ from the host. A request with another name
            ///     is refused. The default is the host alone.
            /// - Throws: `InspectorServerError` if the token is too short or has other characters.
            public static func exposed(
                host: String, port: Int, token: String, tls: TLSFiles, names: [String] = []
            ) throws(InspectorServerError) -> Address {
                guard token.utf8.count >= 16 else {
                    throw InspectorServerError(
                        .token,
                        "The token of an exposed inspector needs at least 16 characters; this one has \(token.count).")
                }
                guard token.utf8.allSatisfy(isUnreserved) else {
                    throw InspectorServerError(
                        .token, "The token of an exposed inspector may have letters, digits and -._~ only.")
                }
                let all = (names.isEmpty ? [host] : names).map {
                    $0.contains(":") && !$0.hasPrefix("[") ? "[\($0)]" : $0
                }
                let exposed = Exposed(host: host, port: port, tls: tls, name: all[0])
                return Address(.exposed(exposed), hosts: Set(all), token: token)
            }

            /// The characters that stand for themselves in a query (RFC 3986, section 2.3).
            private static func isUnreserved(_ byte: UInt8) -> Bool {
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
                case UInt8(ascii: "0")...UInt8(ascii: "9"): true
                default: "-._~".utf8.contains(byte)
                }
            }

            /// What is listened on, without the token.
            public var description: String {
                switch kind {
                case .loopback(let port): "port \(port) of the loopback interface"
                case .unixSocket(let path): "the socket “\(path)”"
                case .exposed(let exposed): "port \(exposed.port) of \(exposed.host)"
                }
            }
        }

        /// The files of a server's identity, in PEM.
        public struct TLSFiles: Sendable, Hashable {
            /// The path of the certificate, with the intermediate ones after it.
            public var certificates: String
            /// The path of the private key, which is not encrypted.
            public var key: String

            /// Creates the paths. The files are read when the server begins to listen.
            public init(certificates: String, key: String) { (self.certificates, self.key) = (certificates, key) }

            func configuration() throws(InspectorServerError) -> TLSConfiguration {
                do {
                    let chain = try NIOSSLCertificate.fromPEMFile(certificates).map(NIOSSLCertificateSource.certificate)
                    let key = try NIOSSLPrivateKey(file: key, format: .pem)
                    var configuration = TLSConfiguration.makeServerConfiguration(
                        certificateChain: chain, privateKey: .privateKey(key))
                    configuration.minimumTLSVersion = .tlsv12
                    return configuration
                } catch {
                    throw InspectorServerError(
                        .certificate, "“\(certificates)” and “\(key)” are no certificate and key: \(error)")
                }
            }
        }
    }

    /// Why an inspector's server cannot listen, or has stopped listening.
    public struct InspectorServerError: Error, Sendable, Hashable, CustomStringConvertible {
        /// What is wrong.
        public struct Reason: Sendable, Hashable {
            private enum Value { case token, certificate, address, path, stopped }
            private let value: Value

            /// The given token is too short or has characters that an address cannot have.
            public static let token = Reason(value: .token)
            /// The certificate or its key cannot be used.
            public static let certificate = Reason(value: .certificate)
            /// The address is in use, or does not belong to this machine.
            public static let address = Reason(value: .address)
            /// The file of the Unix-domain socket cannot be created.
            public static let path = Reason(value: .path)
            /// The system has closed the socket of a server that was listening.
            public static let stopped = Reason(value: .stopped)
        }

        /// What is wrong.
        public let reason: Reason
        /// What happened, in a sentence that can be logged. It never contains the token.
        public let description: String

        init(_ reason: Reason, _ description: String) { (self.reason, self.description) = (reason, description) }
    }
#endif
