import ArgumentParser
import EssentialsTools
import ServiceEssentials

/// Parses `HOST:PORT:ADDRESS`. IPv6 addresses are written in brackets in both places.
enum AddressOverrideArgument {
    static func read(_ text: String) throws -> CurlTransport.AddressOverride {
        guard let (host, afterHost) = cut(text[...]), let (port, address) = cut(afterHost),
            let number = UInt16(port), number > 0, !address.isEmpty, address.hasPrefix("[") || !address.contains(":")
        else {
            throw ValidationError("Write it as host:port:address, with an IPv6 address in brackets.")
        }
        do throws(RequestFailure) {
            return try CurlTransport.AddressOverride(host: HostName(host), port: number, address: HostName(address))
        } catch {
            throw ValidationError(error.advice)
        }
    }

    /// The text before the next colon outside of brackets, and the text after it.
    private static func cut(_ text: Substring) -> (Substring, Substring)? {
        let afterBracket = text.hasPrefix("[") ? text.firstIndex(of: "]") : text.startIndex
        guard let afterBracket, let colon = text[afterBracket...].firstIndex(of: ":"), colon > text.startIndex else {
            return nil
        }
        return (text[..<colon], text[text.index(after: colon)...])
    }
}

/// Parses times such as `300ms`, `5s`, `2m` and `1.5`. A plain number means seconds.
enum DurationArgument {
    static func read(_ text: String) throws -> Duration {
        guard let duration = WrittenQuantity.duration(text) else {
            throw ValidationError("Write a time such as 300ms, 5s, 2m, 1h or a number of seconds, at least 1ms.")
        }
        return duration
    }
}

/// A number of bytes such as `4096`, `64k`, `10M` or `1G`. The suffixes are powers of 1024.
struct ByteCount: Sendable, Equatable {
    let bytes: Int

    init(_ text: String) throws {
        guard let bytes = WrittenQuantity.bytes(text) else {
            throw ValidationError("Write a number of bytes such as 4096, 64k, 10M or 1G.")
        }
        self.bytes = bytes
    }
}
