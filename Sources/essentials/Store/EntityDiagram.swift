#if Persistence
    import ServiceEssentials

    extension StoreOutline.Entry {
        /// The statement, with characters that control a terminal shown by their numbers.
        var text: String {
            var terminal = TerminalText()
            return terminal.escaped(sql) + terminal.end() + ";"
        }

        /// The entry as a JSON object.
        var json: String { OneLine.json(Object(type: kind, name: name, table: table, sql: sql)) }

        private struct Object: Encodable {
            let type, name, table, sql: String
        }
    }

    /// Tables and their foreign keys in the language of Mermaid.
    struct EntityDiagram {
        let tables: [StoreOutline.Table]

        var lines: [String] {
            var lines = ["erDiagram"]
            for table in tables {
                lines.append("    \(Self.quoted(table.name)) {")
                for column in table.columns { lines.append("        " + text(column, of: table)) }
                lines.append("    }")
            }
            for table in tables {
                for reference in table.references { lines.append("    " + text(reference, from: table)) }
            }
            return lines
        }

        private func text(_ column: StoreOutline.Column, of table: StoreOutline.Table) -> String {
            let isForeign = table.references.contains { $0.columns.contains(column.name) }
            let marks = [column.isKey ? "PK" : nil, isForeign ? "FK" : nil].compactMap(\.self).joined(separator: ", ")
            let name = Self.word(column.name)
            let parts = [
                column.type.isEmpty ? "ANY" : Self.word(column.type), name, marks,
                name == column.name ? "" : Self.quoted(column.name),
            ]
            return parts.filter { !$0.isEmpty }.joined(separator: " ")
        }

        private func text(_ reference: StoreOutline.Reference, from table: StoreOutline.Table) -> String {
            let isRequired = reference.columns.allSatisfy { name in
                table.columns.contains { $0.name == name && $0.isRequired }
            }
            let label = Self.quoted(reference.columns.joined(separator: ", "))
            return
                "\(Self.quoted(reference.parent)) \(isRequired ? "||" : "|o")--o{ \(Self.quoted(table.name)) : \(label)"
        }

        /// A name in quotation marks. Mermaid knows no escape, so those within are replaced.
        private static func quoted(_ name: String) -> String {
            "\"\(VisibleText.line(name).map { $0 == "\"" ? "'" : "\($0)" }.joined())\""
        }

        /// A type or a column as Mermaid accepts it: letters, digits and lines, and a letter first.
        private static func word(_ name: String) -> String {
            let word = String(name.map { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_") ? $0 : "_" })
            return word.first?.isLetter == true ? word : "c" + word
        }
    }
#endif
