#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Encodes the header lines of parts.
enum MultipartHeadRules {
    /// The lines `Content-Disposition` and `Content-Type` and the extra fields in order, each with its line break.
    ///
    /// - Throws: `invalidRequest` if a part of a form has no name, a name contains a zero byte, or an extra field is
    ///   one of the first two.
    static func lines(of part: MultipartPart, in subtype: MultipartBody.Subtype) throws(RequestFailure) -> Data {
        var lines = Data()
        if let disposition = try disposition(of: part, in: subtype) {
            lines.append(contentsOf: "Content-Disposition: \(disposition)\r\n".utf8)
        }
        lines.append(contentsOf: "Content-Type: \(part.type)\r\n".utf8)
        for field in part.headerFields {
            guard field.name != .contentDisposition, field.name != .contentType else {
                throw RequestFailure(
                    .invalidRequest, "The extra fields of the \(part.shown) contain \(field.name.rawName).",
                    remedy: "Set the part's name, file name or type instead.")
            }
            lines.append(contentsOf: "\(field.name.rawName): ".utf8)
            // Not as a string, because a value may contain bytes that are not valid UTF-8.
            field.withUnsafeBytesOfValue { lines.append(contentsOf: $0) }
            lines.append(contentsOf: "\r\n".utf8)
        }
        return lines
    }

    /// The media type without parameters, such as `text/plain` for `text/plain; charset=utf-8`.
    static func withoutParameters(_ type: String) -> String {
        let name = type.utf8.prefix { $0 != UInt8(ascii: ";") }
        guard let last = name.lastIndex(where: { $0 != 0x20 && $0 != 0x09 }) else { return "" }
        return String(Substring(name[...last]))
    }

    /// A quoted string (RFC 9110, 5.6.4).
    static func quoted(_ text: String) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            if scalar == "\"" || scalar == "\\" { quoted += "\\" }
            quoted.unicodeScalars.append(scalar)
        }
        return quoted + "\""
    }

    /// A quoted name as browsers encode it in forms (HTML, 4.10.21.8): UTF-8, in which only quotation marks and line
    /// breaks are escaped.
    static func escaped(_ name: String) -> String {
        var escaped = "\""
        for scalar in name.unicodeScalars {
            switch scalar {
            case "\"": escaped += "%22"
            case "\r": escaped += "%0D"
            case "\n": escaped += "%0A"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped + "\""
    }

    /// A name as an extended value (RFC 8187, 3.2.1).
    static func extended(_ name: String) -> String {
        var extended = Array("UTF-8''".utf8)
        for byte in name.utf8 {
            // The characters of a token without those that the syntax of an extended value uses.
            if byte.isTokenCharacter, !"*'%".utf8.contains(byte) {
                extended.append(byte)
            } else {
                extended.append(percentEncoded: byte)
            }
        }
        return String(decoding: extended, as: UTF8.self)
    }

    private static func disposition(
        of part: MultipartPart, in subtype: MultipartBody.Subtype
    ) throws(RequestFailure) -> String? {
        // No receiver accepts a zero byte, and some truncate the name there.
        guard part.name?.utf8.contains(0) != true, part.fileName?.utf8.contains(0) != true else {
            throw RequestFailure(
                .invalidRequest, "The name or file name of the \(part.shown) contains a zero byte.",
                remedy: "Remove the zero byte.")
        }
        var disposition = "attachment"
        if subtype == .formData {
            guard part.name != nil else {
                throw RequestFailure(
                    .invalidRequest, "A part of a form needs a name (RFC 7578, 4.2).",
                    remedy: "Give the part a name, or use a mixed or related body.")
            }
            disposition = "form-data"
        } else if part.name == nil, part.fileName == nil {
            return nil
        }
        if let name = part.name { disposition += "; name=" + escaped(name) }
        if let fileName = part.fileName {
            disposition += "; filename=" + escaped(fileName)
            if part.addsExtendedFileName { disposition += "; filename*=" + extended(fileName) }
        }
        return disposition
    }
}
