import ArgumentParser
import Glibc
import ServiceEssentials

/// Whom the request may reach, and who sends it.
struct TrustOptions: ParsableArguments {
    /// The values of `--min-tls`.
    enum MinimumTLS: String, ExpressibleByArgument, CaseIterable {
        case tls12 = "1.2"
        case tls13 = "1.3"
    }

    @Option(
        name: .customLong("pin"),
        help: ArgumentHelp(
            "A public key, one of which the server's verified chain must hold; repeatable. “essentials pins” prints them.",
            valueName: "sha256/base64"))
    var publicKeyPins: [String] = []

    @Option(
        name: .customLong("pin-certificate"),
        help: ArgumentHelp("The same for a whole certificate; repeatable.", valueName: "sha256/base64"))
    var certificatePins: [String] = []

    @Flag(name: .customLong("single-pin"), help: "Accept a single pin, without a backup.")
    var acceptsSinglePin = false

    @Flag(
        name: .customLong("report-only"),
        help: "Let a server without the pins through, with a warning. Chain and host name are enforced all the same.")
    var reportsOnly = false

    @Option(
        name: .customLong("policy"),
        help: ArgumentHelp(
            "Read the whole trust policy from this JSON file, instead of the options for it here. “essentials pins "
                + "--format json” prints one.", valueName: "file"))
    var policyFile: String?

    @OptionGroup var anchorFiles: AnchorOptions

    @Option(
        name: .customLong("crl"),
        help: ArgumentHelp(
            "A certificate revocation list, as a PEM file; repeatable. Every authority of a chain needs one.",
            valueName: "file"))
    var revocationLists: [String] = []

    @Flag(
        name: .customLong("require-staple"),
        help: "Refuse a server that staples no valid OCSP response to its handshake.")
    var requiresStaple = false

    @Option(
        name: .customLong("client-cert"),
        help: ArgumentHelp("The client's certificate and its chain, as a PEM file.", valueName: "file"))
    var clientCertificate: String?

    @Option(
        name: .customLong("client-key"),
        help: ArgumentHelp(
            "The client certificate's private key, as a PEM file. If it is encrypted, its passphrase is read from the "
                + "variable ESSENTIALS_KEY_PASSPHRASE.", valueName: "file"))
    var clientKey: String?

    @Option(
        name: .customLong("min-tls"),
        help: ArgumentHelp("The lowest TLS version. (default: 1.2)", valueName: "version"))
    var minimumTLS: MinimumTLS?

    /// The options that make a policy, of those that were given, as they are written.
    var given: [String] {
        let isGiven = [
            ("--policy", policyFile != nil), ("--pin", !publicKeyPins.isEmpty),
            ("--pin-certificate", !certificatePins.isEmpty), ("--anchor", !anchorFiles.only.isEmpty),
            ("--add-anchor", !anchorFiles.added.isEmpty), ("--crl", !revocationLists.isEmpty),
            ("--require-staple", requiresStaple), ("--client-cert", clientCertificate != nil),
            ("--min-tls", minimumTLS != nil),
        ]
        return isGiven.filter(\.1).map(\.0)
    }

    func validate() throws {
        let hasPins = !publicKeyPins.isEmpty || !certificatePins.isEmpty
        if acceptsSinglePin, !hasPins { throw ValidationError("--single-pin needs --pin or --pin-certificate.") }
        if reportsOnly, !hasPins { throw ValidationError("--report-only needs --pin or --pin-certificate.") }
        if requiresStaple, !revocationLists.isEmpty {
            throw ValidationError("Give --crl or --require-staple, not both.")
        }
        if (clientCertificate == nil) != (clientKey == nil) {
            throw ValidationError("--client-cert and --client-key belong together.")
        }
        if policyFile != nil, given.count > 1 {
            throw ValidationError(
                "--policy is the whole policy: write what \(given[1]) says into its file, and take it out here.")
        }
    }

    /// The policy of an environment, or what the options say where it has none.
    ///
    /// - Throws: `invalidRequest` when there are both; what is wrong about the options or their files.
    func policy(in environment: EnvironmentSnapshot) throws(RequestFailure) -> TrustPolicy {
        guard let policy = environment.trust else { return try self.policy() }
        if let option = given.first {
            throw RequestFailure(
                .invalidRequest,
                "The environment “\(environment.name)” of --environment has a trust policy, and \(option) is given.",
                remedy: "Take \(option) out, or “trust” out of the environment.",
                host: environment.baseURL.origin.host.text)
        }
        return policy
    }

    private func policy() throws(RequestFailure) -> TrustPolicy {
        if let policyFile { return try TrustPolicy(contentsOfFile: policyFile) }
        let pins = try pins()
        var unlisted = TrustPolicy.UnlistedHosts.anchorsOnly
        if !pins.isEmpty {
            unlisted = .pinned(
                try PinSet(pins, mode: reportsOnly ? .reportOnly : .enforce, acceptsSinglePin: acceptsSinglePin))
        }
        return try TrustPolicy(
            hosts: [], unlistedHosts: unlisted, anchors: anchorFiles.anchors(),
            minimumTLS: minimumTLS == .tls13 ? .tls13 : .tls12, revocation: revocation(), identity: identity())
    }

    private func revocation() throws(RequestFailure) -> Revocation {
        if requiresStaple { return .stapled(isRequired: true) }
        guard !revocationLists.isEmpty else { return .none }
        return .lists(try revocationLists.map { path throws(RequestFailure) in try PEM(contentsOfFile: path) })
    }

    private func pins() throws(RequestFailure) -> [Pin] {
        try publicKeyPins.map { text throws(RequestFailure) in try Pin.publicKey(text) }
            + certificatePins.map { text throws(RequestFailure) in try Pin.certificate(text) }
    }

    private func identity() throws(RequestFailure) -> ClientIdentity? {
        guard let clientCertificate, let clientKey else { return nil }
        let (certificate, key) = try (PEM(contentsOfFile: clientCertificate), PEM(contentsOfFile: clientKey))
        guard key.isEncrypted, let passphrase = getenv("ESSENTIALS_KEY_PASSPHRASE").map({ String(cString: $0) }) else {
            return try ClientIdentity(certificate: certificate, privateKey: key)
        }
        return try ClientIdentity(certificate: certificate, encryptedKey: key) { passphrase }
    }
}
