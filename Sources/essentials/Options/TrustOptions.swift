import ArgumentParser
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

    @OptionGroup var anchorFiles: AnchorOptions

    @Option(
        name: .customLong("client-cert"),
        help: ArgumentHelp("The client's certificate and its chain, as a PEM file.", valueName: "file"))
    var clientCertificate: String?

    @Option(
        name: .customLong("client-key"),
        help: ArgumentHelp("The client certificate's private key, as an unencrypted PEM file.", valueName: "file"))
    var clientKey: String?

    @Option(name: .customLong("min-tls"), help: ArgumentHelp("The lowest TLS version.", valueName: "version"))
    var minimumTLS = MinimumTLS.tls12

    func validate() throws {
        if acceptsSinglePin, publicKeyPins.isEmpty, certificatePins.isEmpty {
            throw ValidationError("--single-pin needs --pin or --pin-certificate.")
        }
        if (clientCertificate == nil) != (clientKey == nil) {
            throw ValidationError("--client-cert and --client-key belong together.")
        }
    }

    func policy() throws(RequestFailure) -> TrustPolicy {
        let anchors = try anchorFiles.anchors()
        let pins = try pins()
        let floor = minimumTLS == .tls13 ? TLSVersion.tls13 : .tls12
        guard !pins.isEmpty else {
            return TrustPolicy(anchors: anchors, minimumTLS: floor, identity: try identity())
        }
        return try TrustPolicy(
            pins: pins, acceptsSinglePin: acceptsSinglePin, anchors: anchors, minimumTLS: floor, identity: identity())
    }

    private func pins() throws(RequestFailure) -> [Pin] {
        try publicKeyPins.map { text throws(RequestFailure) in try Pin.publicKey(text) }
            + certificatePins.map { text throws(RequestFailure) in try Pin.certificate(text) }
    }

    private func identity() throws(RequestFailure) -> ClientIdentity? {
        guard let clientCertificate, let clientKey else { return nil }
        return try ClientIdentity(
            certificate: PEM(contentsOfFile: clientCertificate), privateKey: PEM(contentsOfFile: clientKey))
    }
}
