import Foundation

/// Keys and certificates made by the `openssl` command, in a directory that goes with this object.
final class Certificates: Sendable {
    private let directory: URL

    /// What most tests need, made once: the authorities `ca` and `stranger`, and the servers `leaf` (idp.test, names
    /// under wild.test, 127.0.0.1) and `old` (idp.test, expired), both vouched for by `ca`.
    static let shared = Task {
        try await blocking {
            let certificates = try Certificates()
            try certificates.authority("ca")
            try certificates.authority("stranger")
            try certificates.server("leaf", names: "DNS:idp.test,DNS:*.wild.test,IP:127.0.0.1", by: "ca")
            try certificates.server("old", names: "DNS:idp.test", by: "ca", days: -1)
            return certificates
        }
    }

    private init() throws {
        directory = FileManager.default.temporaryDirectory.appending(path: "understudy-tls-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: directory) }

    func path(_ name: String) -> String { directory.appending(path: name).path }

    /// A certification authority: `name.pem` and `name.key`.
    private func authority(_ name: String) throws {
        try openssl(
            "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "30",
            "-subj", "/CN=\(name)", "-addext", "basicConstraints=critical,CA:TRUE", "-addext",
            "keyUsage=critical,keyCertSign", "-keyout", path("\(name).key"), "-out", path("\(name).pem"))
    }

    /// A server's certificate for some names, like `DNS:idp.test,IP:127.0.0.1`: `name.pem` and `name.key`.
    ///
    /// - Parameter days: how long it is valid; negative for one that is over.
    private func server(_ name: String, names: String, by authority: String, days: Int = 30) throws {
        try Data("subjectAltName=\(names)\n".utf8).write(to: directory.appending(path: "\(name).ext"))
        try openssl(
            "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=\(name)",
            "-keyout", path("\(name).key"), "-out", path("\(name).csr"))
        try openssl(
            "x509", "-req", "-in", path("\(name).csr"), "-CA", path("\(authority).pem"), "-CAkey",
            path("\(authority).key"), "-CAcreateserial", "-days", String(days), "-extfile", path("\(name).ext"),
            "-out", path("\(name).pem"))
    }

    private struct Failure: Error { let output: String }

    private func openssl(_ arguments: String...) throws {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/openssl")
        process.arguments = arguments
        let output = Pipe()
        process.standardOutput = output
        process.standardError = output
        try process.run()
        let text = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw Failure(output: String(decoding: text, as: UTF8.self)) }
    }
}
