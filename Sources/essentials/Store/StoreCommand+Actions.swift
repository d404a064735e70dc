#if Persistence
    import EssentialsTools
    import ServiceEssentials

    extension StoreCommand {
        /// Does what was asked for.
        func act() async throws(RequestFailure) {
            if action == .restore { return try await restore() }
            let inspection = try store { () throws(PersistenceFailure) in try StoreInspection(path: file) }
            switch action {
            case .info: try info(inspection)
            case .schema: try schema(inspection)
            case .rows: try rows(inspection)
            case .check: try check(inspection)
            case .backup, .restore: try await backUp(inspection)
            }
        }

        private func info(_ inspection: StoreInspection) throws(RequestFailure) {
            let report = StoreReport(
                path: file,
                information: try store { () throws(PersistenceFailure) in try inspection.information() })
            try print(format == .json ? [OneLine.json(report)] : report.lines)
        }

        private func schema(_ inspection: StoreInspection) throws(RequestFailure) {
            let outline = try store { () throws(PersistenceFailure) in try inspection.outline() }
            if printsDiagram {
                try print(EntityDiagram(tables: outline.tables).lines)
            } else {
                try print(outline.entries.map { format == .json ? $0.json : $0.text })
            }
            if outline.isCut { warn("The store has more tables or statements than were printed.") }
        }

        private func rows(_ inspection: StoreInspection) throws(RequestFailure) {
            let name = operand ?? ""
            let rows = try store { () throws(PersistenceFailure) in
                try inspection.rows(of: name, limit: limit ?? 100, offset: offset ?? 0)
            }
            guard let rows else { throw try unknownTable(name, inspection) }
            let listing = RowListing(rows: rows)
            try print(format == .json ? listing.objects : listing.table)
            if rows.isCut {
                warn("The table has more than \(StoreRows.columnLimit) columns. The others were left out.")
            }
            if rows.hasMore {
                let next = (offset ?? 0).addingReportingOverflow(rows.rows.count).partialValue
                warn("There are more rows. Continue with --offset \(next).")
            }
        }

        private func unknownTable(
            _ name: String, _ inspection: StoreInspection
        ) throws(RequestFailure) -> RequestFailure {
            let names = try store { () throws(PersistenceFailure) in try inspection.relationNames() }
            let near = EditDistance.suggestions(for: name, among: names).map(VisibleText.line)
            return RequestFailure(
                .invalidRequest,
                "The store has no table “\(VisibleText.line(name))”.\(EditDistance.question(near))",
                remedy: "See “essentials store info \(VisibleText.line(file))”.")
        }

        private func check(_ inspection: StoreInspection) throws(RequestFailure) {
            let findings = try store { () throws(PersistenceFailure) in try inspection.findings() }
            let report = StoreCheckReport(findings: findings)
            try print(format == .json ? [OneLine.json(report)] : report.lines)
            guard !findings.isEmpty else { return }
            throw RequestFailure(
                .file, "“\(VisibleText.line(file))”: The check has found \(report.number).",
                remedy: findings.damage.isEmpty
                    ? "Correct the rows with the program that owns the store." : "Restore a backup.")
        }

        // MARK: Writing

        private func backUp(_ inspection: StoreInspection) async throws(RequestFailure) {
            let backup = StoreBackup(of: inspection, to: operand ?? "")
            try await Interruption.watch(removing: backup.temporary) { () throws(RequestFailure) in
                let bytes = try store { () throws(PersistenceFailure) in try backup.make(overwriting: overwrites) }
                let copy = StoreCopyReport(file: backup.target, bytes: bytes)
                try print([
                    format == .json
                        ? OneLine.json(copy) : "Copied \(bytes) bytes to “\(VisibleText.line(backup.target))”."
                ])
            }
        }

        private func restore() async throws(RequestFailure) {
            let name = operand ?? ""
            let backup = try store(name) { () throws(PersistenceFailure) in try StoreInspection(path: name) }
            let restoration = StoreRestoration(of: file, from: backup)
            try await Interruption.watch(removing: restoration.temporary) { () throws(RequestFailure) in
                let kept = try store { () throws(PersistenceFailure) in try restoration.run() }
                let report = StoreRestorationReport(file: file, backup: name, kept: kept)
                try print(format == .json ? [OneLine.json(report)] : report.lines)
            }
        }

        // MARK: Printing

        /// Runs a call of the engine.
        ///
        /// - Parameter path: The file that a failure names; `nil` for that of the store.
        private func store<Result>(
            _ path: String? = nil, _ body: () throws(PersistenceFailure) -> Result
        ) throws(RequestFailure) -> Result {
            do throws(PersistenceFailure) {
                return try body()
            } catch {
                throw RequestFailure(
                    .file, "“\(VisibleText.line(path ?? file))”: \(error.message)", remedy: error.remedy)
            }
        }

        private func print(_ lines: [String]) throws(RequestFailure) {
            try StandardStream.output.write(lines.map { $0 + "\n" }.joined())
        }

        private func warn(_ text: String) { StandardStream.error.printLine(text) }
    }
#endif
