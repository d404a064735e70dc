import ServiceEssentials

/// A status with its words.
enum StatusText {
    /// `404 Not Found`, with the server's own words where it gave some, which it cannot over HTTP/2, else the registered
    /// ones; or the number alone of a status without words.
    static func text(of status: HTTPResponse.Status) -> String {
        let phrase = status.reasonPhrase.isEmpty ? status.registeredPhrase ?? "" : status.reasonPhrase
        return phrase.isEmpty ? "\(status.code)" : "\(status.code) \(phrase)"
    }
}
