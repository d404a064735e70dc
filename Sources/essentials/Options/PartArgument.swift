import ArgumentParser
import ServiceEssentials

/// A form part as one argument: `name=text` or `name=@file;type=image/png;filename=x.png`.
struct PartArgument: Sendable, Equatable {
    /// The content of the part.
    enum Content: Sendable, Equatable {
        case text(String)
        case file(path: String, type: String?, fileName: String?)
    }

    let name: String
    let content: Content

    /// Parses the argument. A text is taken as it is, including semicolons. After a file's path, `;type=` and
    /// `;filename=` begin a parameter, and each may occur once. Any other semicolon belongs to the text before it.
    init(_ text: String) throws {
        let argument = try NamedText.formField(text)
        name = argument.name
        guard argument.value.utf8.first == UInt8(ascii: "@") else {
            content = .text(argument.value)
            return
        }
        var (path, type, fileName): (String?, String?, String?) = (nil, nil, nil)
        for piece in Self.pieces(Substring(argument.value.utf8.dropFirst())) {
            if let value = Self.value(of: "type=", in: piece), path != nil {
                guard type == nil else { throw ValidationError("“type=” is given twice.") }
                guard MediaType(parsing: value) != nil else {
                    throw ValidationError("Write a type as type=image/png.")
                }
                type = value
            } else if let value = Self.value(of: "filename=", in: piece), path != nil {
                guard fileName == nil else { throw ValidationError("“filename=” is given twice.") }
                guard !value.isEmpty else { throw ValidationError("“filename=” needs a name.") }
                fileName = value
            } else {
                path = piece
            }
        }
        guard let path, !path.isEmpty else { throw ValidationError("The @ needs a file name.") }
        guard path != "-" else {
            throw ValidationError(
                "A part cannot be standard input, because its size must be known. A file named - is written as @./-.")
        }
        content = .file(path: path, type: type, fileName: fileName)
    }

    /// Creates the part. The status of a file is read at this moment.
    ///
    /// - Throws: `file` if the file does not exist or is not a regular file.
    func part() throws(RequestFailure) -> MultipartPart {
        switch content {
        case .text(let text): .field(name, text)
        case .file(let path, let type, let fileName):
            try .file(path, name: name, fileName: fileName, type: type)
        }
    }

    var isFile: Bool {
        if case .file = content { true } else { false }
    }

    /// Splits the value into the path and its parameters. A semicolon that begins no parameter is part of the text.
    private static func pieces(_ text: Substring) -> [String] {
        var pieces: [String] = []
        for bytes in text.utf8.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false) {
            let piece = Substring(bytes)
            let beginsParameter = value(of: "type=", in: piece) != nil || value(of: "filename=", in: piece) != nil
            if pieces.isEmpty || beginsParameter {
                pieces.append(String(piece))
            } else {
                pieces[pieces.count - 1] += ";" + piece
            }
        }
        return pieces
    }

    private static func value(of name: String, in piece: some StringProtocol) -> String? {
        let trimmed = Substring(piece).utf8.drop { $0 == UInt8(ascii: " ") }
        return trimmed.starts(with: name.utf8) ? String(Substring(trimmed.dropFirst(name.utf8.count))) : nil
    }
}
