import EssentialsStorage
public import EssentialsTransport

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension HAR {
    /// The maximum size of a file that is read, in bytes.
    public static let maximumFileSize = 256 << 20

    /// Reads a HAR file of any program.
    ///
    /// It blocks while the file is read.
    ///
    /// - Throws: `file` if it cannot be read or is larger than ``maximumFileSize``, and `decoding` if it is not a HAR file.
    public init(contentsOf path: String) throws(RequestFailure) {
        try self.init(
            parsing: try SmallFile.read(path, upTo: Self.maximumFileSize, for: "a HAR file", tooLong: .file))
    }

    /// Reads the content of a HAR file.
    ///
    /// - Throws: `decoding` if it is not one.
    public init(parsing data: Data) throws(RequestFailure) {
        // Some programs begin their files with a byte order mark.
        let mark = Data([0xef, 0xbb, 0xbf])
        do {
            self = try JSONDecoder().decode(HAR.self, from: data.starts(with: mark) ? data.dropFirst(3) : data)
        } catch {
            throw RequestFailure(
                .decoding, "The text is not a HAR file: \(HAR.reason(of: error))",
                remedy: "Pass a file that a browser, a proxy or this package has recorded.", underlying: error)
        }
    }

    private static func reason(of error: any Error) -> String {
        guard let error = error as? DecodingError else { return "it is no JSON." }
        switch error {
        case .keyNotFound(let key, let context):
            let path = (context.codingPath + [key]).map(\.text).joined(separator: ".")
            return "the member “\(RequestFailure.shown(path))” is missing."
        case .typeMismatch(_, let context), .valueNotFound(_, let context), .dataCorrupted(let context):
            let path = context.codingPath.map(\.text).joined(separator: ".")
            return path.isEmpty ? "it is no JSON." : "the member “\(RequestFailure.shown(path))” is invalid."
        @unknown default: return "it is no JSON."
        }
    }

    /// The content of a HAR file.
    public var data: Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Every value of a record can be encoded: there are no numbers that JSON does not have.
        return (try? encoder.encode(self)) ?? Data("{\"log\":{\"version\":\"1.2\",\"entries\":[]}}".utf8)
    }

    /// Checks that a HAR file can be written, before there is something to write.
    ///
    /// - Throws: `file` if the directory is missing or may not be changed, or if something else than a file has the name.
    package static func checkPlace(_ path: String) throws(RequestFailure) {
        let place = try place(path)
        try RequestFailure.onFile(path, "could not be written", missing: "Create the directory.", phase: .preparation) {
            () throws(FileError) in
            let file = try AtomicFile(place, .none)
            file.abandon()
        }
    }

    /// The place of a file that can be replaced.
    private static func place(_ path: String) throws(RequestFailure) -> FilePlace {
        // A device or a pipe is refused, because replacing it by a file is hardly intended. So is a link to one.
        if let existing = try? FileStatus(of: path), !existing.isRegular {
            throw SentFile.notRegular(path, phase: .preparation)
        }
        return try FilePlace.of(path)
    }

    /// Writes a HAR file that only this user can read (mode 0600). It appears under its name when it is complete, and replaces an
    /// earlier file or a link to one.
    ///
    /// It blocks while the file is written.
    ///
    /// - Throws: `file` if it cannot be written, or if something else than a file has the name, such as a device.
    public func write(to path: String) throws(RequestFailure) {
        let place = try Self.place(path)
        let bytes = Array(data)
        try RequestFailure.onFile(path, "could not be written", missing: "Create the directory.", phase: .preparation) {
            () throws(FileError) in
            AbandonedFiles.remove(beside: place)
            try AtomicFile.write([bytes], to: place.path, temporary: place.temporary(), .none)
        }
    }
}

extension CodingKey {
    /// The key as it is written in a path.
    fileprivate var text: String { intValue.map { "\($0)" } ?? stringValue }
}

extension HAR.Pair {
    /// The items of a URL's query; none if it is hidden whole.
    static func items(ofQueryIn url: String) -> [HAR.Pair] {
        guard let mark = url.firstIndex(of: "?") else { return [] }
        let query = url[url.index(after: mark)...].prefix { $0 != "#" }
        guard query != "…", let items = try? QueryItems(parsing: query) else { return [] }
        return items.items.map { HAR.Pair(name: $0.name, value: $0.value ?? "") }
    }
}
