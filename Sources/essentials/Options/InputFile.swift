import EssentialsHTTP
import EssentialsTools
import FoundationEssentials
import ServiceEssentials

/// Reads a request's body from a file or from standard input.
enum InputFile {
    /// The maximum number of bytes that are read into memory.
    static let maximum = 1 << 30

    static func bytes(of text: String) -> Data { Data(text.utf8) }

    static func standardInput() throws(RequestFailure) -> Data {
        try read(STDIN_FILENO, name: "Standard input")
    }

    /// Reads a text.
    ///
    /// - Throws: `file` if the file cannot be read, `invalidRequest` if it is not UTF-8.
    static func text(of path: String) throws(RequestFailure) -> String {
        let data = try contents(of: path)
        guard let text = String(validating: data, as: UTF8.self) else {
            throw RequestFailure(
                .invalidRequest, "\(name(of: path)) is not UTF-8.",
                remedy: "Send the bytes unchanged with --data @FILE, or convert the file.")
        }
        return text
    }

    /// Reads a JSON text, which is not changed.
    ///
    /// - Throws: `file` if the file cannot be read, `invalidRequest` if it is not JSON.
    static func json(of path: String) throws(RequestFailure) -> String {
        let text = try text(of: path)
        guard JSONParser.isValid(text) else {
            throw RequestFailure(
                .invalidRequest, "\(name(of: path)) is not valid JSON.",
                remedy: "Check its quotes, commas and brackets, or send it unchecked with --data @FILE.")
        }
        return text
    }

    /// Reads a file, or standard input if the path is `-`.
    static func contents(of path: String) throws(RequestFailure) -> Data {
        guard path != "-" else { return try standardInput() }
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw RequestFailure.file("“\(path)” could not be read") }
        defer { close(descriptor) }
        return try read(descriptor, name: "“\(path)”")
    }

    private static func name(of path: String) -> String { path == "-" ? "Standard input" : "“\(path)”" }

    private static func read(_ descriptor: Int32, name: String) throws(RequestFailure) -> Data {
        var data = Data()
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            if count == 0 { return data }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw RequestFailure.file("\(name) could not be read") }
            guard data.count + count <= maximum else {
                throw RequestFailure(
                    .tooLarge, "\(name) exceeds \(maximum) bytes, the maximum for a body that is sent from memory.",
                    remedy: "Use --upload, or send it in parts.")
            }
            data.append(contentsOf: buffer[..<count])
        }
    }
}
