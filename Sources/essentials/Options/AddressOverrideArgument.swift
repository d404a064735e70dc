import ArgumentParser
import ServiceEssentials

/// Reads `HOST:PORT:ADDRESS`; IPv6 addresses stand in brackets on either side.
enum AddressOverrideArgument {
    static func read(_ text: String) throws -> CurlTransport.AddressOverride {
        guard let (host, afterHost) = cut(text[...]), let (port, address) = cut(afterHost),
            let number = UInt16(port), number > 0, !address.isEmpty, address.hasPrefix("[") || !address.contains(":")
        else {
            throw ValidationError("Write it as host:port:address, an IPv6 address in brackets.")
        }
        do throws(RequestFailure) {
            return try CurlTransport.AddressOverride(host: HostName(host), port: number, address: HostName(address))
        } catch {
            throw ValidationError("\(error.message) \(error.remedy)")
        }
    }

    /// What stands before the next colon outside of brackets, and what follows that colon.
    private static func cut(_ text: Substring) -> (Substring, Substring)? {
        let afterBracket = text.hasPrefix("[") ? text.firstIndex(of: "]") : text.startIndex
        guard let afterBracket, let colon = text[afterBracket...].firstIndex(of: ":"), colon > text.startIndex else {
            return nil
        }
        return (text[..<colon], text[text.index(after: colon)...])
    }
}
