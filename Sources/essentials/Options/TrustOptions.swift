import ArgumentParser
import EssentialsTools
import ServiceEssentials

/// Options for the trust policy: pins, anchors, revocation, and the client's certificate.
struct TrustOptions: ParsableArguments {
    /// The values of `--min-tls`.
    enum MinimumTLS: String, ExpressibleByArgument, CaseIterable {
        case tls12 = "1.2"
        case tls13 = "1.3"
    }

    @Option(
        name: .customLong("pin"),
        help: ArgumentHelp(
            "The pin of a public key that the server's verified chain must contain; one match is enough; "
                + "repeatable. “essentials pins” prints pins.",
            valueName: "sha256/base64"))
    var publicKeyPins: [String] = []

    @Option(
        name: .customLong("pin-certificate"),
        help: ArgumentHelp("The pin of a certificate, used like --pin; repeatable.", valueName: "sha256/base64"))
    var certificatePins: [String] = []

    @Flag(name: .customLong("single-pin"), help: "Allow a single pin without a backup pin.")
    var acceptsSinglePin = false

    @Flag(
        name: .customLong("report-only"),
        help: "Print a warning if no pin matches, and continue. The chain and the host name are still enforced.")
    var reportsOnly = false

    @Option(
        name: .customLong("policy"),
        help: ArgumentHelp(
            "Read the trust policy from this JSON file; other trust options are then refused. “essentials pins "
                + "--format json” prints such a file.", valueName: "file"),
        completion: .file())
    var policyFile: String?

    @Option(
        name: .customLong("anchor"),
        help: AnchorFiles.onlyHelp,
        completion: .file())
    var onlyAnchors: [String] = []

    @Option(
        name: .customLong("add-anchor"),
        help: AnchorFiles.addedHelp,
        completion: .file())
    var addedAnchors: [String] = []

    @Option(
        name: .customLong("crl"),
        help: ArgumentHelp(
            "A certificate revocation list, as a PEM file; repeatable. Every authority of the chain needs one.",
            valueName: "file"),
        completion: .file())
    var revocationLists: [String] = []

    @Flag(
        name: .customLong("require-staple"),
        help: "Refuse a server that staples no valid OCSP response in its handshake.")
    var requiresStaple = false

    @Option(
        name: .customLong("client-cert"),
        help: ArgumentHelp("The client's certificate and its chain, as a PEM file.", valueName: "file"),
        completion: .file())
    var clientCertificate: String?

    @Option(
        name: .customLong("client-key"),
        help: ArgumentHelp(
            "The client certificate's private key, as a PEM file. The passphrase of an encrypted key is read from the "
                + "variable ESSENTIALS_KEY_PASSPHRASE.", valueName: "file"),
        completion: .file())
    var clientKey: String?

    @Option(
        name: .customLong("min-tls"),
        help: ArgumentHelp("The lowest TLS version. (default: 1.2)", valueName: "version"))
    var minimumTLS: MinimumTLS?

    @Flag(name: [.customShort("k"), .customLong("insecure")], help: .hidden)
    var acceptsAnything = false

    /// The trust options given on the command line.
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

    var anchorFiles: AnchorFiles { AnchorFiles(only: onlyAnchors, added: addedAnchors) }

    func validate() throws {
        try anchorFiles.check()
        if acceptsAnything {
            throw ValidationError(
                "No option accepts an invalid certificate, so there is no --insecure. For a private authority or a "
                    + "self-signed certificate, name it with --anchor FILE. To accept only a known key, add --pin.")
        }
        let hasPins = !publicKeyPins.isEmpty || !certificatePins.isEmpty
        if acceptsSinglePin, !hasPins { throw ValidationError("--single-pin needs --pin or --pin-certificate.") }
        if reportsOnly, !hasPins { throw ValidationError("--report-only needs --pin or --pin-certificate.") }
        if requiresStaple, !revocationLists.isEmpty {
            throw ValidationError("Give --crl or --require-staple, not both.")
        }
        if (clientCertificate == nil) != (clientKey == nil) {
            throw ValidationError("--client-cert and --client-key must be given together.")
        }
        if policyFile != nil, given.count > 1 {
            throw ValidationError(
                "--policy contains the whole policy. Move \(given[1]) into its file, or remove --policy.")
        }
    }

    /// The options that let curl trust what this tool trusts, and present the same certificate. curl has none for pins that match
    /// any certificate of a chain, for anchors beside the system's, and for several files of one kind.
    var curlOptions: [(name: String, value: String?)] {
        var options: [(name: String, value: String?)] = []
        if anchorFiles.only.count == 1 { options.append(("--cacert", anchorFiles.only[0])) }
        if revocationLists.count == 1 { options.append(("--crlfile", revocationLists[0])) }
        if requiresStaple { options.append(("--cert-status", nil)) }
        if let clientCertificate { options.append(("--cert", clientCertificate)) }
        if let clientKey { options.append(("--key", clientKey)) }
        if minimumTLS == .tls13 { options.append(("--tlsv1.3", nil)) }
        return options
    }

    /// The policy of the environment, or the policy from the options if the environment has none.
    ///
    /// - Throws: `invalidRequest` if both are given, and failures of invalid options and files.
    func policy(in environment: EnvironmentSnapshot) throws(RequestFailure) -> TrustPolicy {
        guard let policy = environment.trust else { return try self.policy() }
        if let option = given.first {
            throw RequestFailure(
                .invalidRequest,
                "The environment “\(environment.name)” of --environment has a trust policy, so \(option) is refused.",
                remedy: "Remove \(option), or “trust” from the environment.",
                host: environment.baseURL.origin.host.text)
        }
        return policy
    }

    /// The policy from the options.
    func policy() throws(RequestFailure) -> TrustPolicy {
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
