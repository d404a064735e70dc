/// Text in the fixed-size character arrays of C structures.
enum CText {
    /// The characters before the first zero; nil when there are none. `characters` is a tuple of `CChar`.
    static func string<Characters>(_ characters: Characters) -> String? {
        // Only the tuple's own bytes are looked at, while it is in memory.
        let text = withUnsafeBytes(of: characters) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        return text.isEmpty ? nil : text
    }
}
