import EssentialsHTTP

extension ResourceURL {
    /// Whether the URL belongs to an origin.
    package func isOf(_ origin: Origin) -> Bool {
        guard failure == nil || place == .unusable(.dotSegment) else { return false }
        let prefix = origin.description.utf8
        return text.utf8.starts(with: prefix) && text.utf8.dropFirst(prefix.count).first == UInt8(ascii: "/")
    }

    /// The URL; `nil` if the address is not a URL that can be requested.
    package var shown: String? { failure == nil ? text : nil }
}
