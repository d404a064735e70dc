extension RecordDirectory {
    /// Reads the records of all keys one after the other, without counting a use. Those that a removal or an invalidation
    /// hides are left out, as are those of other processes that are removed meanwhile.
    ///
    /// - Parameters:
    ///   - isVerified: Whether the files of bodies are read and checked too.
    ///   - body: Called for each record. The first parameter is the name of its file, and the second one `nil` if it is
    ///     damaged. Nothing damaged is removed.
    package func forEachRecord(
        isVerified: Bool, _ body: (_ file: String, _ record: StoredRecord?) throws(FileError) -> Void
    ) throws(FileError) {
        try prepare()
        try calls.check(.list, path)
        for text in try directory.names(upTo: .max).sorted() {
            guard let name = RecordName(text), isThere(name) else { continue }
            guard let content = try present(name) else {
                // It can have been removed since the names were listed.
                if isThere(name) { try body(text, nil) }
                continue
            }
            guard try allowsReading(name, begun: content.facts.begun),
                try isValid(name, since: content.facts.invalidation)
            else { continue }
            var stored = StoredRecord.Body.inline(content.body)
            if let file = content.file {
                guard let opened = try open(RecordBodyName(name, content.facts.id), size: file.size) else {
                    if isThere(name) { try body(text, nil) }
                    continue
                }
                let checked = CheckedFile(file: opened, size: file.size, checksums: file.checksums)
                if isVerified, try !isWhole(checked) {
                    try body(text, nil)
                    continue
                }
                stored = .file(checked)
            }
            try body(
                text,
                StoredRecord(name: name, key: content.key, head: content.head, body: stored, facts: content.facts))
        }
    }

    private func isWhole(_ file: CheckedFile) throws(FileError) -> Bool {
        for index in 0..<file.pieceCount {
            guard try file.piece(index) != nil else { return false }
        }
        return true
    }
}
