import ArgumentParser
import ServiceEssentials

/// A part of a form as one argument: `name=text` or `name=@file;type=image/png;filename=x.png`.
struct PartArgument: Sendable, Equatable {
    /// What the part holds.
    enum Content: Sendable, Equatable {
        case text(String)
        case file(path: String, type: String?, fileName: String?)
    }

    let name: String
    let content: Content

    /// Reads the argument. A text stands for itself, with all of its semicolons; behind a file's name a semicolon begins
    /// `type=` or `filename=`, each at most once, and everything else up to there belongs to what stands before it.
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
                guard type == nil else { throw ValidationError("“type=” is there twice.") }
                guard MediaType(parsing: value) != nil else {
                    throw ValidationError("Write a type as type=image/png.")
                }
                type = value
            } else if let value = Self.value(of: "filename=", in: piece), path != nil {
                guard fileName == nil else { throw ValidationError("“filename=” is there twice.") }
                guard !value.isEmpty else { throw ValidationError("“filename=” has no name behind it.") }
                fileName = value
            } else {
                path = piece
            }
        }
        guard let path, !path.isEmpty else { throw ValidationError("No file is named behind the @.") }
        guard path != "-" else {
            throw ValidationError(
                "A part is no standard input, because its size has to be known; a file of that name is @./-.")
        }
        content = .file(path: path, type: type, fileName: fileName)
    }

    /// The part; of a file, its status is looked at now.
    ///
    /// - Throws: `file` for one that is not there or is no regular file.
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

    /// The path and the parameters behind it. A semicolon that begins no parameter is a part of what it stands in.
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
