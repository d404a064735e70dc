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
            guard let name = RecordName(text) else { continue }
            var found = try listed(name, isVerified)
            // A record can have been replaced after its head was read.
            if case .damaged = found { found = try listed(name, isVerified) }
            switch found {
            case .hidden: continue
            case .damaged: try body(text, nil)
            case .record(let record): try body(text, record)
            }
        }
    }

    private enum Listed {
        case hidden
        case damaged
        case record(StoredRecord)
    }

    private func listed(_ name: RecordName, _ isVerified: Bool) throws(FileError) -> Listed {
        guard isThere(name) else { return .hidden }
        guard let content = try present(name) else { return isThere(name) ? .damaged : .hidden }
        guard try allowsReading(name, begun: content.facts.begun),
            try isValid(name, since: content.facts.invalidation)
        else { return .hidden }
        var stored = StoredRecord.Body.inline(content.body)
        if let file = content.file {
            guard let opened = try open(RecordBodyName(name, content.facts.id), size: file.size) else {
                return isThere(name) ? .damaged : .hidden
            }
            let checked = CheckedFile(file: opened, size: file.size, checksums: file.checksums)
            if isVerified, try !isWhole(checked) { return .damaged }
            stored = .file(checked)
        }
        return .record(
            StoredRecord(name: name, key: content.key, head: content.head, body: stored, facts: content.facts))
    }

    private func isWhole(_ file: CheckedFile) throws(FileError) -> Bool {
        for index in 0..<file.pieceCount {
            guard try file.piece(index) != nil else { return false }
        }
        return true
    }
}
