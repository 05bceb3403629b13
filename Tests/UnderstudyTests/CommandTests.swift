import Control
import Encoding
import HTTP
import Testing

@testable import understudy

/// Commands against a phone and a reference IdP in this process.
struct CommandTests {
    @Test func `a sign-in ends with the session and exit code 0`() async throws {
        let stage = try await Stage.open().enrolled()
        let ran = await stage.signIn("--scope", "openid", "--scope", "email", "--scan", "mismatch,match")
        #expect(ran.exit == .done)
        #expect(ran.lines.first == "starting")
        #expect(ran.lines.last == "signed in")
        #expect(ran.lines.contains("awaitingFace (2 attempts left; last scan: mismatch)"))
        #expect(ran.lines.contains { $0.hasPrefix("scope") && $0.hasSuffix("openid email") })
        #expect(ran.err.isEmpty)
    }

    @Test func `with json stdout holds one document and stderr the chatter`() async throws {
        let stage = try await Stage.open().enrolled()
        let ran = await stage.signIn("--scan", "match", "--json")
        #expect(ran.exit == .done)
        let document = try ran.document()
        #expect(document["result"] == "signed_in")
        #expect(document["session"]?["client_id"] == "app_demo")
        #expect(ran.err.contains("starting\n"))
        #expect(ran.err.hasSuffix("signed in\n"))
    }

    @Test func `tokens appear only where they are asked for`() async throws {
        let stage = try await Stage.open().enrolled()
        let shown = await stage.signIn("--json", "--show-tokens", "--scope", "openid", "--scope", "offline_access")
        let session = try #require(try shown.document()["session"])
        let access = try #require(session["access_token"]?.string)
        let refresh = try #require(session["refresh_token"]?.string)
        let flow = try #require(try shown.document()["flow"]?.string)
        for arguments in [
            ["session", "show", "--device", "phone"], ["flow", "show", flow, "-v"], ["flow", "show", flow, "--json"],
            ["device", "show", "phone", "--json"], ["events", "--once", "--json"],
        ] {
            let ran = await stage.runner.run(arguments)
            #expect(ran.exit == .done, "\(arguments)")
            #expect(!(ran.out + ran.err).contains(access), "\(arguments)")
            #expect(!(ran.out + ran.err).contains(refresh), "\(arguments)")
        }
        let asked = await stage.runner.run("session", "show", "--device", "phone", "--show-tokens")
        #expect(asked.out.contains(access))
    }

    @Test func `the third mismatch fails with its reason and exit code 1`() async throws {
        let stage = try await Stage.open().enrolled()
        let ran = await stage.signIn("--scan", "mismatch", "--scan", "mismatch,mismatch", "--json")
        #expect(ran.exit == .failed)
        let document = try ran.document()
        #expect(document.object?.names == ["result", "reason", "message", "flow"])
        #expect(document["reason"] == "faceMismatch")
    }

    @Test func `a parked sign-in says how to go on, and goes on`() async throws {
        let stage = try await Stage.open().enrolled()
        let parked = await stage.signIn("--scan", "match", "--fault", "drop:completion:2")
        #expect(parked.exit == .failed)
        let way = try #require(parked.lines.first { $0.hasPrefix("go on with: understudy flow retry ") })
        let flow = try #require(way.split(separator: " ").last.map(String.init))
        let retried = await stage.runner.run("flow", "retry", flow)
        #expect(retried.exit == .done)
        #expect(retried.lines.last == "signed in")
        #expect(!retried.lines.contains("starting"), "steps from before the retry are told again")
        #expect(await stage.runner.run("flow", "retry", flow).exit == .failed)
    }

    @Test func `a camera that hangs is shown something by another command`() async throws {
        let stage = try await Stage.open().enrolled()
        async let signIn = stage.signIn("--scan", "hang")
        var waiting: String?
        while waiting == nil {
            let flows = try await stage.runner.run("flow", "list", "--live", "--json").document()
            for id in (flows["flows"]?.array ?? []).compactMap({ $0["id"]?.string }) {
                let flow = try await stage.runner.run("flow", "show", id, "--json").document()
                if flow["waiting_for_scan"] == true { waiting = id }
            }
            await Task.yield()
        }
        let id = try #require(waiting)
        #expect(await stage.runner.run("flow", "scan", id, "match").exit == .done)
        let ran = await signIn
        #expect(ran.exit == .done)
        #expect(ran.err == "waiting for a scan: understudy flow scan \(id) match\n")
    }

    @Test func `fetch gives the body to stdout, the status to stderr, and its exit code`() async throws {
        let stage = try await Stage.open().enrolled()
        _ = await stage.signIn()
        let good = await stage.runner.run("fetch", "--device", "phone", stage.api + "/accounts")
        #expect(good.exit == .done)
        #expect(try JSON(parsing: Array(good.out.utf8))["accounts"]?.array?.count == 2)
        #expect(good.err == "GET \(stage.api)/accounts: 200\n")
        let echo = await stage.runner.run(
            "fetch", "--device", "phone", "-X", "PUT", "-H", "X-A: b", "-d", "hello", stage.api + "/echo", "--json")
        #expect(try echo.document()["body"]?.string?.contains(#""method":"PUT""#) == true)
        let wrong = await stage.runner.run("fetch", "--device", "phone", stage.idp.served.api + "/globex/accounts")
        #expect(wrong.exit == .failed)
        #expect(wrong.err.hasSuffix(": 401\n"))
        let nobody = await stage.runner.run("fetch", "--device", "phone", "http://127.0.0.1:1/")
        #expect(nobody.exit == .unavailable)
    }

    @Test func `a user without a ticket enrols with a mailed code`() async throws {
        let stage = try await Stage.open()
        _ = await stage.runner.run("device", "create", "phone")
        let enrol = ["enrol", "--device", "phone", "--issuer", stage.issuer, "--email", "eve@example.com"]
        #expect(await stage.runner.run(enrol).exit == .done)
        let inbox = await stage.runner.run("idp", "inbox", "--email", "eve@example.com", "--json")
        let mail = try #require(try inbox.document()["mails"]?.array?.last)
        let code = try #require(mail["code"]?.string)
        #expect(await stage.runner.run(enrol + ["--code", "000000000"]).exit == .failed)
        #expect(await stage.runner.run(enrol + ["--code", code]).exit == .done)
        #expect(await stage.runner.run("device", "show", "phone").out.contains("eve@example.com"))
    }

    @Test func `a ticket can be made again for the same user`() async throws {
        let stage = try await Stage.open()
        let first = await stage.runner.run("idp", "ticket", "--email", "ada@example.com")
        let second = await stage.runner.run("idp", "ticket", "--email", "ada@example.com", "--json")
        #expect(first.exit == .done && second.exit == .done)
        #expect(first.lines.count == 1)
        #expect(try second.document()["ticket"]?.string != first.lines.first)
        let users = try await stage.runner.run("idp", "users", "--json").document()
        #expect(users["users"]?.array?.count == 1)
    }

    @Test func `the reference IdP is listed, changed and reset`() async throws {
        let stage = try await Stage.open()
        let idp = stage.runner
        #expect(await idp.run("idp", "list").out.contains(stage.issuer))
        #expect(await idp.run("idp", "tenants").lines.count == 4)
        #expect(await idp.run("idp", "apps", "--issuer", stage.issuer).lines.first == "app_demo")
        #expect(await idp.run("idp", "policy", "nonce_on_start=true").out.contains("yes"))
        let policy = try await idp.run("idp", "policy", "--json").document()
        #expect(policy["nonce_on_start"] == true)
        #expect(await idp.run("idp", "policy", "nonce_on_start=perhaps").exit == .badInput)
        #expect(await idp.run("idp", "clock", "+90s").exit == .done)
        #expect(try await idp.run("idp", "clock", "--json").document()["seconds"] == 90)
        #expect(await idp.run("idp", "clock", "noon").exit == .badInput)
        #expect(await idp.run("idp", "findings").out.contains("manage."))
        #expect(await idp.run("idp", "reset").exit == .done)
        #expect(try await idp.run("idp", "policy", "--json").document()["nonce_on_start"] == false)
        #expect(await idp.run("idp", "tenants", "--issuer", "http://127.0.0.1:1/other").exit == .badInput)
    }

    @Test func `devices are made, changed and wiped`() async throws {
        let runner = try await Stage.open().runner
        let made = await runner.run(
            "device", "create", "--device", "p1", "--platform", "android", "--clock", "+90s", "--scan",
            "mismatch,badCapture:blurred", "--default-scan", "cancel", "--json")
        let device = try made.document()
        #expect(device["platform"] == "android" && device["clock"] == "+90s" && device["default_scan"] == "cancel")
        #expect(device["scans"] == ["mismatch", "badCapture:blurred"])
        #expect(await runner.run("device", "create", "p1").exit == .failed)
        let queued = await runner.run("device", "scans", "p1", "match")
        #expect(queued.out.contains("badCapture:blurred, match, then cancel"))
        let replaced = await runner.run("device", "scans", "p1", "--replace", "match")
        #expect(replaced.out.contains("camera       match, then"))
        #expect(await runner.run("device", "scans", "p1", "blink").exit == .badInput)
        #expect(await runner.run("device", "scans", "p1").exit == .usage)
        #expect(await runner.run("device", "clock", "p1", "--", "-2h").out.contains("-2h"))
        #expect(await runner.run("device", "list").lines.count == 2)
        #expect(await runner.run("device", "delete", "p1").exit == .done)
        let gone = await runner.run("device", "show", "p1", "--json")
        #expect(gone.exit == .failed)
        #expect(try gone.document()["error"]?["code"] == "no_device")
        #expect(await runner.run("device", "list").out.contains("create one"))
    }

    @Test func `signing out ends the session`() async throws {
        let stage = try await Stage.open().enrolled()
        _ = await stage.signIn()
        #expect(await stage.runner.run("session", "show", "--device", "phone").exit == .done)
        #expect(await stage.runner.run("session", "sign-out", "--device", "phone").exit == .done)
        #expect(await stage.runner.run("session", "show", "--device", "phone").exit == .failed)
    }
}
