#if Persistence
    import FoundationEssentials
    import ServiceEssentials

    /// The output of `essentials store info`.
    struct StoreReport: Encodable {
        private enum CodingKeys: CodingKey {
            case path, bytes, pageSize, pages, freePages, journalMode, logBytes, userVersion, sqliteVersion
            case hasLogResetFault, owner, migrations, tables, backups, isCut
        }
        private enum OwnerKeys: CodingKey { case process, isRunning, ownsStore }

        private struct Migration: Encodable {
            let name, date: String
        }
        private struct Table: Encodable {
            private enum CodingKeys: CodingKey { case name, rows }

            let table: StoreInformation.Table

            func encode(to encoder: any Encoder) throws {
                var object = encoder.container(keyedBy: CodingKeys.self)
                try object.encode(table.name, forKey: .name)
                // A table that could not be counted has null.
                try object.encode(table.rows, forKey: .rows)
            }
        }
        private struct Copy: Encodable {
            let name, date: String
            let bytes: Int64
        }

        let path: String
        let information: StoreInformation

        // MARK: Text

        var lines: [String] {
            let pages = "\(information.pages) of \(information.pageSize) bytes, \(information.freePages) unused"
            var lines = [
                Self.line("file", VisibleText.line(path)), Self.line("size", "\(information.bytes) bytes"),
                Self.line("pages", pages),
                Self.line("journal", "\(information.journalMode), \(information.logBytes) bytes in the log"),
                Self.line("user_version", "\(information.userVersion)"),
                Self.line("SQLite", StoreInformation.sqliteVersion),
            ]
            if StoreInformation.hasLogResetFault {
                lines += [
                    Self.line("", "This version has the WAL-reset bug: pages can be lost if one program copies the"),
                    Self.line("", "log while another one writes. Do not checkpoint a store from outside its owner."),
                ]
            }
            lines.append(Self.line("owner", owner))
            lines += section("MIGRATIONS", information.migrations.map { [$0.name, $0.date] }, "none are recorded")
            lines += section(
                "TABLES", information.tables.map { [$0.name, $0.rows.map { "\($0)" } ?? "not counted"] }, "none")
            lines += section(
                "BACKUPS", information.backups.map { [$0.name, Self.time($0.seconds), "\($0.bytes) bytes"] }, "none")
            return lines + (information.isCut ? ["", "A list is longer than shown."] : [])
        }

        private static func line(_ name: String, _ text: String) -> String { name.padded(to: 14) + text }

        private var owner: String {
            guard let owner = information.owner else { return "none" }
            let process = "process \(owner.process)"
            return owner.holdsStore
                ? "\(process), which is running"
                : "none; the last one was \(process), which \(owner.isRunning ? "has closed it" : "has ended")"
        }

        private func section(_ title: String, _ rows: [[String]], _ empty: String) -> [String] {
            ["", title] + (rows.isEmpty ? ["  " + empty] : TextTable.lines(rows).map { "  " + $0 })
        }

        private static func time(_ seconds: Int64) -> String {
            Date(timeIntervalSince1970: Double(seconds)).formatted(.iso8601)
        }

        // MARK: JSON

        func encode(to encoder: any Encoder) throws {
            var object = encoder.container(keyedBy: CodingKeys.self)
            try object.encode(path, forKey: .path)
            try object.encode(information.bytes, forKey: .bytes)
            try object.encode(information.pageSize, forKey: .pageSize)
            try object.encode(information.pages, forKey: .pages)
            try object.encode(information.freePages, forKey: .freePages)
            try object.encode(information.journalMode, forKey: .journalMode)
            try object.encode(information.logBytes, forKey: .logBytes)
            try object.encode(information.userVersion, forKey: .userVersion)
            try object.encode(StoreInformation.sqliteVersion, forKey: .sqliteVersion)
            try object.encode(StoreInformation.hasLogResetFault, forKey: .hasLogResetFault)
            if let owner = information.owner {
                var nested = object.nestedContainer(keyedBy: OwnerKeys.self, forKey: .owner)
                try nested.encode(owner.process, forKey: .process)
                try nested.encode(owner.isRunning, forKey: .isRunning)
                try nested.encode(owner.holdsStore, forKey: .ownsStore)
            } else {
                try object.encodeNil(forKey: .owner)
            }
            try object.encode(
                information.migrations.map { Migration(name: $0.name, date: $0.date) }, forKey: .migrations)
            try object.encode(information.tables.map { Table(table: $0) }, forKey: .tables)
            try object.encode(
                information.backups.map { Copy(name: $0.name, date: Self.time($0.seconds), bytes: $0.bytes) },
                forKey: .backups)
            try object.encode(information.isCut, forKey: .isCut)
        }
    }

    /// The output of `essentials store check`.
    struct StoreCheckReport: Encodable {
        private enum CodingKeys: CodingKey { case isSound, damage, dangling, migrations }
        private struct Dangling: Encodable {
            let table, parent: String
            let rows: Int64
        }

        let findings: StoreFindings

        /// The number of findings in words.
        var number: String {
            let count = findings.damage.count + findings.dangling.count
            return count == 1 ? "1 fault" : "\(count) faults"
        }

        var lines: [String] {
            let damage = findings.damage.map { "damage: " + VisibleText.line($0) }
            let dangling = findings.dangling.map { found in
                "reference: \(found.rows) rows of “\(VisibleText.line(found.table))” refer to missing ones of"
                    + " “\(VisibleText.line(found.parent))”"
            }
            let unknown = "Only the program knows whether it has them all and has edited none."
            guard let count = findings.migrationCount else {
                return damage + ["references: not checked, because of the damage", "migrations: not read. \(unknown)"]
            }
            return (damage.isEmpty ? ["damage: none was found"] : damage)
                + (dangling.isEmpty ? ["references: all rows that others refer to are there"] : dangling)
                + ["migrations: \(count == 1 ? "1 is" : "\(count) are") recorded. \(unknown)"]
        }

        func encode(to encoder: any Encoder) throws {
            var object = encoder.container(keyedBy: CodingKeys.self)
            try object.encode(findings.isEmpty, forKey: .isSound)
            try object.encode(findings.damage, forKey: .damage)
            try object.encode(
                findings.dangling.map { Dangling(table: $0.table, parent: $0.parent, rows: $0.rows) },
                forKey: .dangling)
            try object.encode(findings.migrationCount, forKey: .migrations)
        }
    }

    /// The output of `essentials store backup` as an object.
    struct StoreCopyReport: Encodable {
        let file: String
        let bytes: Int64
    }

    /// The output of `essentials store restore`.
    struct StoreRestorationReport: Encodable {
        let file, backup: String
        let kept: String?

        var lines: [String] {
            let restored = "Restored “\(VisibleText.line(file))” from “\(VisibleText.line(backup))”."
            return [
                restored, kept.map { "The file before is “\(VisibleText.line($0))”." } ?? "There was no file before.",
            ]
        }
    }
#endif
