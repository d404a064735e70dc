import EssentialsStorage
package import EssentialsTransport
import FoundationEssentials

/// The fingerprint of a trust policy, which is the same in every process and another one for each other policy.
package enum TrustFingerprint {
    package static func text(of policy: TrustPolicy) -> String {
        var writer = ByteWriter()
        writer.append(UInt8(policy.anchors.includesSystem ? 1 : 0))
        writer.append(UInt8(policy.anchors.ignoresEnvironment ? 1 : 0))
        append(policy.anchors.explicit.map(\.text), to: &writer)
        writer.append(UInt32(clamping: policy.hosts.count))
        for rule in policy.hosts {
            writer.append(text: "\(rule.pattern)")
            append(rule.pins, to: &writer)
        }
        switch policy.unlistedHosts {
        case .anchorsOnly: writer.append(UInt8(0))
        case .refused: writer.append(UInt8(1))
        case .pinned(let pins):
            writer.append(UInt8(2))
            append(pins, to: &writer)
        }
        writer.append(text: policy.minimumTLS == .tls12 ? "1.2" : "1.3")
        switch policy.revocation {
        case .none: writer.append(UInt8(0))
        case .stapled(let isRequired): writer.append(UInt8(isRequired ? 2 : 1))
        case .lists(let lists):
            writer.append(UInt8(3))
            append(lists.map(\.text), to: &writer)
        }
        // The certificate names the client; its key is no part of the fingerprint.
        append(policy.identity.map { [$0.certificate.text] } ?? [], to: &writer)
        return StableHash.hexadecimal(StableHash.name(of: writer.bytes))
    }

    private static func append(_ texts: [String], to writer: inout ByteWriter) {
        writer.append(UInt32(clamping: texts.count))
        for text in texts { writer.append(text: text) }
    }

    private static func append(_ pins: PinSet?, to writer: inout ByteWriter) {
        guard let pins else { return writer.append(UInt8(0)) }
        writer.append(UInt8(1))
        writer.append(UInt8(pins.mode == .enforce ? 1 : 0))
        writer.append(UInt8(pins.onExpiry == .refuse ? 1 : 0))
        writer.append(pins.expires?.timeIntervalSinceReferenceDate.bitPattern ?? 0)
        writer.append(UInt32(clamping: pins.pins.count))
        for pin in pins.pins {
            writer.append(UInt8(pin.kind == .publicKey ? 0 : 1))
            writer.append(text: "\(pin.scope)")
            writer.append(pin.digest)
        }
    }
}
