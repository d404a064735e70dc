import ArgumentParser
import EssentialsTools
import ServiceEssentials

/// The certificate authorities that a server's chain may lead to, for commands without `TrustOptions`.
struct AnchorOptions: ParsableArguments {
    @Option(
        name: .customLong("anchor"),
        help: AnchorFiles.onlyHelp,
        completion: .file())
    var only: [String] = []

    @Option(
        name: .customLong("add-anchor"),
        help: AnchorFiles.addedHelp,
        completion: .file())
    var added: [String] = []

    func validate() throws { try files.check() }

    var files: AnchorFiles { AnchorFiles(only: only, added: added) }
}

/// The files of `--anchor` and `--add-anchor`.
struct AnchorFiles {
    static let onlyHelp = ArgumentHelp(
        "Trust the certificates of this PEM file and no others; repeatable.", valueName: "file")
    static let addedHelp = ArgumentHelp(
        "Trust the certificates of this PEM file in addition to the system's; repeatable.", valueName: "file")

    let only: [String]
    let added: [String]

    func check() throws {
        if !only.isEmpty, !added.isEmpty { throw ValidationError("Give --anchor or --add-anchor, not both.") }
    }

    func anchors() throws(RequestFailure) -> TrustAnchors {
        if !only.isEmpty { return try .only(Self.read(only)) }
        return added.isEmpty ? .system : try .systemAnd(Self.read(added))
    }

    /// The anchors in the format of a policy file, or `nil` for the system's. Paths are absolute, because a policy file
    /// resolves relative paths against its own directory.
    var policyText: String? {
        let files = "[\((only + added).map { JSONText.quoted(Self.wholePath($0)) }.joined(separator: ", "))]"
        if !only.isEmpty { return files }
        return added.isEmpty ? nil : "{\"system\": true, \"files\": \(files)}"
    }

    private static func wholePath(_ path: String) -> String {
        guard let whole = realpath(path, nil) else { return path }
        defer { free(whole) }
        return String(cString: whole)
    }

    private static func read(_ paths: [String]) throws(RequestFailure) -> [PEM] {
        try paths.map { path throws(RequestFailure) in try PEM(contentsOfFile: path) }
    }
}
