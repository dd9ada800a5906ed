//! Languages that are written with Latin letters. Data only.

use super::super::Means::{
    Account, Address, Birth, Case, Citizen, City, Day, Device, Fax, License, Name, PerhapsName,
    Phone, Plan, Record, Vehicle, Zip,
};
use super::super::table::Language;

#[rustfmt::skip]
pub(super) const SPANISH: Language = &[
    (Name, "nombre del paciente, nombre de la paciente, nombre y apellidos, nombre completo, apellidos y nombre, \
        apellidos, primer apellido, segundo apellido, apellidos del paciente, nombre del titular, \
        nombre del asegurado"),
    (PerhapsName, "nombre, paciente, médico responsable, médico tratante, médico, enfermera, acudiente, \
        contacto de emergencia"),
    (Birth, "fecha de nacimiento, f nacimiento, fecha nacimiento, f nac, fecha nac, nacimiento, fec nac"),
    (Day, "fecha, fecha de ingreso, fecha de alta, fecha de la consulta, fecha de consulta, próxima cita, \
        fecha de cirugía, fecha de emisión, fecha ingreso, fecha alta"),
    (Phone, "teléfono, tel, tfno, tlf, telf, móvil, celular, teléfono móvil, teléfono de contacto, \
        número de teléfono, teléfono celular, whatsapp, teléfonos"),
    (Record, "número de historia clínica, n de historia clínica, historia clínica, nhc, nro historia clínica, \
        nro de historia clínica, n historia clínica, no historia clínica, número de expediente, n de expediente, \
        no de expediente, expediente clínico, historia clínica n, historia clínica no, número de paciente"),
    (Case, "número de episodio, n de episodio, número de caso, número de muestra, número de solicitud"),
    (Plan, "número de afiliado, n de afiliado, nro de afiliado, número de póliza, n de póliza, póliza, nuhsa, \
        tarjeta sanitaria, número de tarjeta sanitaria, nss, número de seguridad social, \
        número de la seguridad social, n seguridad social, carnet de afiliado, credencial n"),
    (Citizen, "dni, nie, nif, curp, rut, rfc, cédula, cédula de ciudadanía, cédula de identidad, \
        documento de identidad, número de documento, cuil, cuit, n de documento, dni nie, nro documento, pasaporte, \
        número de pasaporte"),
    (Account, "número de cuenta, cuenta bancaria, n de cuenta, nro de cuenta, cuenta corriente, clabe, cbu, iban"),
    (License, "número de colegiado, n de colegiado, colegiado, n colegiado, cédula profesional, \
        matrícula profesional, registro médico, carnet de conducir, licencia de conducir"),
    (Device, "número de serie, n de serie, nro de serie, no de serie"),
    (Vehicle, "matrícula, placa, placas, patente"),
    (Address, "dirección, domicilio, dirección particular"),
    (City, "ciudad, localidad, población, municipio"),
    (Zip, "código postal, c p"),
];

#[rustfmt::skip]
pub(super) const GERMAN: Language = &[
    (Name, "name des patienten, name der patientin, patientenname, name des versicherten, name vorname, nachname, \
        vorname, familienname, geburtsname, vor und nachname, vorname und nachname, name und vorname, \
        nachname vorname, vorname nachname, mädchenname, vollständiger name, name des arztes, name des kindes, \
        name der mutter, name der angehörigen, name des angehörigen, zuname"),
    (PerhapsName, "patientin, versicherter, versicherte, hausarzt, hausärztin, ansprechpartner, ansprechpartnerin, \
        notfallkontakt, angehörige, angehöriger, behandelnder arzt, behandelnde ärztin, überweiser, \
        überweisender arzt, unterzeichner, bezugspflege, betreuer, betreuerin, kontaktperson, ehemann, ehefrau, \
        tochter, sohn, mutter, vater, zuständiger arzt, arzt, ärztin, oberarzt, oberärztin, stationsarzt, \
        einweiser"),
    (Birth, "geburtsdatum, geb, geboren, geboren am, geb am, gebdat, geb datum, geburtstag"),
    (Day, "datum, aufnahmedatum, entlassungsdatum, entlassdatum, behandlungsdatum, untersuchungsdatum, \
        nächster termin, aufnahme am, entlassung am, datum der untersuchung, ausgestellt am, aufnahme, entlassung, \
        sterbedatum, eingangsdatum, befunddatum, rezeptdatum, überweisungsdatum"),
    (Phone, "telefon, telefonnummer, telefonnr, tel, tel nr, fon, mobil, mobilnummer, mobiltelefon, handy, \
        handynummer, rufnummer, rückrufnummer, durchwahl, festnetz, telefon privat, telefon dienstlich, \
        telefon mobil, notfallnummer, mobilnr, handynr, telef, mobilfunk, natel"),
    (Fax, "telefax, faxnummer, faxnr, telefaxnummer, telefaxnr"),
    (Record, "patientennummer, patientennr, patienten id, pat nr, pat id, aktenzeichen, krankenaktennummer, \
        aktennummer, aktennr, krankenblattnummer, patientenaktennummer, krankengeschichte nr, patient nr, \
        kis nummer, karteinummer"),
    (Case, "fallnummer, fallnr, fall id, aufnahmenummer, aufnahmenr, auftragsnummer, auftragsnr, vorgangsnummer, \
        befundnummer, befundnr, probennummer, probennr, einsendenummer, überweisungsnummer, bestellnummer, \
        rezeptnummer, referenznummer, eingangsnummer, schadennummer, aufenthaltsnummer, histologienummer"),
    (Plan, "versichertennummer, versichertennr, krankenversichertennummer, kvnr, versicherungsnummer, \
        versicherungsnr, krankenversicherungsnummer, krankenkassennummer, mitgliedsnummer, versichertenkarte, \
        egk nr, egk nummer, policennummer, versichertenkartennummer, versicherten id, kassennummer, vsnr, \
        versicherungsscheinnummer, kartennummer"),
    (Citizen, "sozialversicherungsnummer, svnr, rentenversicherungsnummer, steuer id, steueridentifikationsnummer, \
        steuernummer, personalausweisnummer, personalausweis, personalausweis nr, ausweisnummer, reisepassnummer, \
        reisepass nr, reisepass, passnummer, ahv nummer, ahv nr, ahv, rvnr, ausweis nr, identifikationsnummer, \
        personalnummer, personalnr"),
    (Account, "kontonummer, kontonr, bankverbindung, iban, rechnungsnummer, rechnungsnr, rechnung nr, kundennummer, \
        kundennr, depotnummer"),
    (License, "führerscheinnummer, führerschein nr, führerschein, lebenslange arztnummer, lanr, arztnummer, arztnr, \
        betriebsstättennummer, bsnr, approbationsnummer, zulassungsnummer"),
    (Device, "seriennummer, seriennr, gerätenummer, gerätenr, implantatnummer, geräte id"),
    (Vehicle, "kennzeichen, kfz kennzeichen, nummernschild, autokennzeichen, amtliches kennzeichen, \
        fahrgestellnummer"),
    (Address, "adresse, anschrift, straße, strasse, wohnanschrift, wohnadresse, heimatadresse, postanschrift, \
        straße und hausnummer, straße hausnummer, straße nr, privatadresse, meldeadresse, wohnhaft"),
    (City, "wohnort, ort, plz ort, stadt, geburtsort, plz wohnort, plz und ort"),
    (Zip, "plz, postleitzahl"),
];

#[rustfmt::skip]
pub(super) const FRENCH: Language = &[
    (Name, "nom du patient, nom de la patiente, nom et prénom, nom et prénoms, nom prénom, nom de famille, \
        nom de naissance, nom de jeune fille, prénom, prénoms, prénom et nom, nom complet, nom d'usage, nom usuel, \
        prénom nom, nom prénoms, nom marital, nom du médecin, nom patronymique, nom de l'assuré, nom de la mère, \
        nom du père"),
    (PerhapsName, "nom, patiente, médecin traitant, médecin, infirmière, infirmier, personne de confiance, \
        personne à prévenir, personne à contacter, assuré, assurée, époux, épouse, conjoint, mère, père, \
        chirurgien, médecin référent, sage femme, contact d'urgence, tuteur, tutrice, aidant, prescripteur"),
    (Birth, "date de naissance, né le, née le, ddn, date naissance, date de naiss, naissance"),
    (Day, "date, date d'entrée, date de sortie, date d'admission, date de consultation, date de l'examen, \
        prochain rendez vous, date du rendez vous, rendez vous, rdv, date d'hospitalisation, \
        date de l'intervention, date de décès, entrée le, sortie le, date de prélèvement, prochain rdv, \
        date d'intervention, date du prélèvement"),
    (Phone, "téléphone, tél, numéro de téléphone, n de téléphone, no de téléphone, portable, tél portable, \
        téléphone portable, tél mobile, tél domicile, tél fixe, téléphone mobile, gsm, tél port, cellulaire, \
        numéro de portable, téléphone fixe, tél dom, téléphone domicile, joignable au"),
    (Fax, "télécopie, télécopieur, n de fax, numéro de fax"),
    (Record, "numéro de dossier, n de dossier, no de dossier, nº dossier, dossier n, dossier no, numéro patient, \
        n patient, no patient, dossier patient, numéro de dossier médical, ipp, n ipp, numéro ipp, \
        dossier médical n, identifiant patient, id patient, n de patient, numéro de patient, dossier médical no"),
    (Case, "numéro de séjour, n de séjour, iep, numéro d'admission, n d'admission, numéro de demande, n de demande, \
        numéro de prélèvement, n de prélèvement, numéro d'ordonnance, n d'ordonnance, numéro d'échantillon, \
        n d'examen, numéro de référence, n de référence, numéro de sinistre, n de commande, n d'ordre, \
        no de séjour, no d'accession, numéro d'examen, n d'échantillon"),
    (Plan, "numéro d'assuré, n d'assuré, numéro d'adhérent, n d'adhérent, numéro de mutuelle, n de mutuelle, \
        numéro d'assurance, n d'assurance, numéro de contrat, carte vitale, n carte vitale, numéro de police, \
        n de police, numéro d'assurance maladie, no d'assurance maladie, ramq, n adhérent, carte de mutuelle, \
        n d'affilié, numéro d'affilié, no d'assuré, carte d'assurance maladie"),
    (Citizen, "numéro de sécurité sociale, n de sécurité sociale, n sécurité sociale, n sécu, numéro de sécu, \
        n de sécu, sécurité sociale, nir, n de sécurité sociale nir, matricule, niss, numéro national, n national, \
        registre national, n de registre national, numéro de registre national, carte d'identité, \
        n carte d'identité, numéro de carte d'identité, passeport, n de passeport, numéro de passeport, \
        numéro fiscal, n fiscal, avs, n avs, numéro avs, no avs, numéro ins, cin, titre de séjour"),
    (Account, "numéro de compte, n de compte, compte bancaire, iban, numéro de facture, n de facture, facture n, \
        no de compte, n de client, numéro client, no de facture"),
    (License, "rpps, n rpps, numéro rpps, adeli, n adeli, numéro adeli, permis de conduire, n de permis, \
        numéro de permis, n finess, finess, inami, n inami, numéro inami"),
    (Device, "numéro de série, n de série, no de série, n série"),
    (Vehicle, "immatriculation, plaque d'immatriculation"),
    (Address, "adresse, adresse du patient, domicile, adresse postale, adresse du domicile, domicilié à"),
    (City, "ville, commune, lieu de naissance, code postal et ville, code postal ville"),
    (Zip, "code postal"),
];

#[rustfmt::skip]
pub(super) const ITALIAN: Language = &[
    (Name, "nome del paziente, nome della paziente, nome e cognome, cognome e nome, cognome, nome paziente, \
        cognome nome, nome cognome, nominativo, nome completo, cognome da nubile, nome del medico, nome del padre, \
        nome della madre"),
    (PerhapsName, "nome, paziente, medico curante, medico, medico di base, infermiera, infermiere, \
        contatto di emergenza, assistito, assistita, coniuge, marito, moglie, figlio, figlia, madre, padre, \
        caregiver, chirurgo, medico richiedente, medico prescrittore, referente, tutore, persona di contatto"),
    (Birth, "data di nascita, nato il, nata il, data nascita"),
    (Day, "data, data di ricovero, data di dimissione, data ricovero, data dimissione, data della visita, \
        data visita, data dell'esame, prossimo appuntamento, appuntamento, data di accettazione, data intervento, \
        data referto, data del ricovero, data prelievo, prossima visita, data di ingresso, data del decesso"),
    (Phone, "telefono, numero di telefono, cellulare, numero di cellulare, recapito telefonico, recapito, \
        telefono fisso, numero telefonico, tel cell, tel casa, recapiti telefonici, n di telefono"),
    (Fax, "numero di fax"),
    (Record, "numero di cartella, numero cartella, n cartella, cartella clinica, cartella clinica n, n di cartella, \
        numero cartella clinica, numero di cartella clinica, n cartella clinica, id paziente, codice paziente, \
        numero paziente, cartella n, nosologico, numero nosologico, n nosologico"),
    (Case, "numero di ricovero, numero ricovero, numero di accettazione, numero accettazione, n accettazione, \
        numero pratica, numero ricetta, nre, numero campione, codice campione, numero di richiesta, \
        codice prenotazione, numero prenotazione, numero referto, numero esame, codice impegnativa, \
        numero di pratica, codice richiesta"),
    (Plan, "tessera sanitaria, numero tessera sanitaria, n tessera sanitaria, numero di tessera, numero polizza, \
        numero di polizza, n polizza, polizza n, polizza, codice assistito, n tessera, libretto sanitario"),
    (Citizen, "codice fiscale, cod fisc, cod fiscale, carta d'identità, carta d'identità n, \
        numero carta d'identità, passaporto, numero passaporto, partita iva"),
    (Account, "numero di conto, numero conto, conto corrente, n conto, conto n, numero fattura, fattura n, \
        codice cliente, coordinate bancarie"),
    (License, "patente di guida, numero patente, n patente, codice regionale medico, numero di iscrizione, \
        n iscrizione albo, numero iscrizione albo"),
    (Device, "numero di serie, numero seriale, n di serie, matricola dispositivo, n serie"),
    (Vehicle, "targa, numero di targa, targa auto"),
    (Address, "indirizzo, residenza, residente in, domicilio, indirizzo di residenza, residente a"),
    (City, "città, comune, luogo di nascita, comune di residenza, località"),
    (Zip, "codice postale"),
];

#[rustfmt::skip]
pub(super) const PORTUGUESE: Language = &[
    (Name, "nome do paciente, nome da paciente, nome completo, nome do utente, nome da mãe, nome do pai, sobrenome, \
        apelido, nome e sobrenome, nome da utente, nome social, nome do médico, nome do responsável, \
        nome do doente, nome próprio"),
    (PerhapsName, "nome, paciente, utente, doente, médico assistente, médico responsável, médico, médica, \
        enfermeira, enfermeiro, contato de emergência, contacto de emergência, responsável, acompanhante, cônjuge, \
        mãe, pai, filho, filha, esposa, marido, beneficiário, cuidador, cuidadora, médico de família, titular"),
    (Birth, "data de nascimento, nascimento, data nascimento, d nasc, data de nasc, data nasc, dt nasc, nascido em, \
        nascida em, dt nascimento"),
    (Day, "data da consulta, data de internação, data da internação, data de alta, data da alta, data do exame, \
        data de internamento, próxima consulta, data da cirurgia, data de admissão, data do óbito, data de entrada, \
        data de emissão, data da colheita, data da coleta, data do atendimento, data de validade"),
    (Phone, "telefone, telemóvel, celular, número de telefone, contato telefônico, contacto telefónico, telef, \
        telm, tlm, tlf, telefones, telefone celular, telefone fixo, telefone de contato, telefone para contato, \
        contato, contacto, número de telemóvel, n de telefone"),
    (Record, "prontuário, número do prontuário, n do prontuário, prontuário n, nº prontuário, número de prontuário, \
        processo clínico, número de processo, n de processo, n processo, processo n, id do paciente, \
        código do paciente, número do processo, n do processo, registro do paciente, número do paciente"),
    (Case, "número do atendimento, n do atendimento, número de episódio, n de episódio, número da guia, guia n, \
        número de amostra, protocolo n, número do protocolo, número do pedido, n do pedido, número da receita, \
        n da receita, número da requisição, número de internamento, nº episódio, código da amostra, \
        número do exame, senha de autorização, número da amostra, n de requisição"),
    (Plan, "cartão nacional de saúde, cartão sus, cns, número do cartão sus, n cartão sus, número de utente, \
        n de utente, n utente, utente n, n sns, número sns, número do sus, carteirinha, número da carteirinha, \
        n da carteirinha, carteira do convênio, matrícula do convênio, número de beneficiário, n de beneficiário, \
        apólice, número da apólice, n da apólice, cartão de utente, número da carteira, carteira n, cartão do sus"),
    (Citizen, "cpf, rg, nif, cpf do paciente, n cpf, cartão de cidadão, cartão do cidadão, n cartão de cidadão, \
        niss, bilhete de identidade, número de contribuinte, n contribuinte, identidade, rg n, cartão cidadão, \
        número de identificação fiscal, passaporte, n passaporte, título de eleitor, cpf n, número do cpf, \
        contribuinte"),
    (Account, "número da conta, conta corrente, conta bancária, n da conta, nib, fatura n, número da fatura, \
        conta poupança"),
    (License, "crm, coren, cro, crm n, cnh, carta de condução, número da carteira de motorista, \
        cédula profissional, número de ordem, n ordem dos médicos, carteira de motorista"),
    (Device, "número de série, n de série, nº série"),
    (Vehicle, "placa, matrícula, placa do veículo"),
    (Address, "endereço, morada, residência, endereço residencial, logradouro"),
    (City, "cidade, localidade, município, naturalidade, concelho, freguesia, bairro"),
    (Zip, "código postal"),
];

#[rustfmt::skip]
pub(super) const DUTCH: Language = &[
    (Name, "naam patiënt, naam van de patiënt, patiëntnaam, achternaam, voornaam, voornamen, geboortenaam, \
        meisjesnaam, voor en achternaam, naam en voornaam, volledige naam, naam verzekerde, roepnaam, \
        naam van patiënt, familienaam, naam cliënt"),
    (PerhapsName, "naam, patiënte, huisarts, behandelend arts, contactpersoon, verpleegkundige, verzekerde, cliënt, \
        echtgenoot, echtgenote, moeder, vader, dochter, zoon, mantelzorger, eerste contactpersoon, verwijzer, \
        behandelaar, verloskundige"),
    (Birth, "geboortedatum, geb datum, gebdatum, geboren op, geb dat, geboortedag, geboren, geb"),
    (Day, "opnamedatum, ontslagdatum, afspraak, datum opname, datum ontslag, datum onderzoek, volgende afspraak, \
        datum consult, operatiedatum, datum van opname, datum van ontslag, datum van overlijden, controleafspraak, \
        onderzoeksdatum, afnamedatum, verwijsdatum"),
    (Phone, "telefoon, telefoonnummer, telnr, mobiel, mobiele nummer, mobiel nummer, gsm nummer, tel nr, gsm nr, \
        telefoon thuis, telefoon mobiel, tel mobiel, telefoonnr, vaste lijn"),
    (Record, "patiëntnummer, patiëntnr, patiënt nr, dossiernummer, dossiernr, patiëntennummer, patiënt id, \
        zis nummer, epd nummer, ziekenhuisnummer, cliëntnummer, cliëntnr, pat nr, kaartnummer"),
    (Case, "opnamenummer, ordernummer, monsternummer, labnummer, referentienummer, aanvraagnummer, verwijsnummer, \
        receptnummer, casusnummer, zaaknummer, declaratienummer, onderzoeksnummer, bezoeknummer"),
    (Plan, "polisnummer, verzekerdennummer, verzekeringsnummer, relatienummer, lidnummer, polisnr, verzekeringsnr, \
        verzekerdenummer, uzovi, lidmaatschapsnummer, aansluitingsnummer"),
    (Citizen, "bsn, burgerservicenummer, bsn nummer, bsn nr, rijksregisternummer, rijksregisternr, paspoortnummer, \
        identiteitskaart, id kaart, insz, paspoort, insz nummer, identiteitskaartnummer, documentnummer, \
        sofinummer"),
    (Account, "rekeningnummer, bankrekening, bankrekeningnummer, rekeningnr, factuurnummer, klantnummer"),
    (License, "big nummer, big nr, big registratie, rijbewijs, rijbewijsnummer, agb code, riziv nummer, riziv, \
        riziv nr, big registratienummer, agb"),
    (Device, "serienummer, serienr, apparaatnummer"),
    (Vehicle, "kenteken, nummerplaat"),
    (Address, "adres, woonadres, straat, huisadres, thuisadres, postadres, straat en huisnummer"),
    (City, "woonplaats, plaats, gemeente, geboorteplaats, postcode en woonplaats, postcode plaats"),
    (Zip, "postcode"),
];

#[rustfmt::skip]
pub(super) const POLISH: Language = &[
    (Name, "imię i nazwisko, nazwisko i imię, nazwisko, imię i nazwisko pacjenta, nazwisko pacjenta, \
        nazwisko rodowe, imię pacjenta, imiona, nazwisko i imię pacjenta, nazwisko panieńskie, imię nazwisko, \
        drugie imię, imię ojca, imię matki"),
    (PerhapsName, "imię, pacjent, pacjentka, lekarz prowadzący, lekarz, lekarz kierujący, pielęgniarka, \
        osoba kontaktowa, osoba upoważniona, osoba do kontaktu, ojciec, mąż, żona, córka, opiekun, ubezpieczony, \
        lekarz rodzinny, położna, opiekun prawny"),
    (Birth, "data urodzenia, data ur, urodzony, urodzona"),
    (Day, "data przyjęcia, data wypisu, data badania, data wizyty, termin wizyty, następna wizyta, data zabiegu, \
        data zgonu, data wystawienia, data operacji, wizyta kontrolna, data konsultacji, data pobrania, przyjęty, \
        wypisany"),
    (Phone, "numer telefonu, nr telefonu, nr tel, tel kom, komórka, telefon kontaktowy, tel kontaktowy, \
        telefon komórkowy, numer tel, tel domowy, telefon stacjonarny, kontakt, kontakt tel"),
    (Fax, "faks, nr faksu, numer faksu"),
    (Record, "numer historii choroby, nr historii choroby, numer kartoteki, nr kartoteki, numer pacjenta, \
        nr pacjenta, id pacjenta, nr księgi głównej, numer księgi głównej, historia choroby nr, nr karty, \
        numer karty, identyfikator pacjenta, nr dokumentacji, numer dokumentacji, nr księgi, nr kart, karta nr"),
    (Case, "numer skierowania, nr skierowania, numer recepty, nr recepty, numer zlecenia, nr zlecenia, \
        numer badania, nr badania, numer próbki, nr próbki, kod recepty, numer hospitalizacji, numer pobytu, \
        nr pobytu, numer sprawy, nr sprawy, nr zgłoszenia, numer zgłoszenia, kod skierowania"),
    (Plan, "numer ubezpieczenia, nr ubezpieczenia, numer polisy, nr polisy, polisa nr, polisa, \
        numer ubezpieczonego, nr ubezpieczonego, karta ekuz, ekuz, nr ekuz, numer ubezpieczenia zdrowotnego"),
    (Citizen, "pesel, numer pesel, nr pesel, pesel pacjenta, dowód osobisty, nr dowodu, numer dowodu, \
        seria i numer dowodu, numer paszportu, nr paszportu, nip, nr dowodu osobistego, numer dowodu osobistego, \
        paszport, dowód os"),
    (Account, "numer konta, nr konta, numer rachunku, nr rachunku, konto bankowe, faktura nr, numer faktury, \
        nr faktury, rachunek bankowy, numer klienta, nr klienta"),
    (License, "prawo jazdy, nr prawa jazdy, numer prawa jazdy, pwz, numer pwz, nr pwz, nr prawa wykonywania zawodu, \
        numer prawa wykonywania zawodu"),
    (Device, "numer seryjny, nr seryjny, nr fabryczny, numer fabryczny"),
    (Vehicle, "numer rejestracyjny, nr rejestracyjny, nr rej, tablica rejestracyjna, numer rejestracyjny pojazdu"),
    (Address, "adres, adres zamieszkania, ulica, adres domowy, zamieszkały, zamieszkała, zam, adres pacjenta, \
        adres korespondencyjny, adres zameldowania, miejsce zamieszkania"),
    (City, "miejscowość, miasto, miejsce urodzenia, gmina, powiat, kod pocztowy i miejscowość"),
    (Zip, "kod pocztowy, kod poczt"),
];

#[rustfmt::skip]
pub(super) const TURKISH: Language = &[
    (Name, "hasta adı, hastanın adı, adı soyadı, ad soyad, hasta adı soyadı, soyadı, soyad, adı ve soyadı, \
        hastanın adı soyadı, anne adı, baba adı, isim soyisim, ad ve soyad, kızlık soyadı, doktor adı, isim soyad, \
        ana adı"),
    (PerhapsName, "adı, isim, hasta, doktor, hekim, hemşire, refakatçi, yakını, hasta yakını, \
        acil durumda aranacak kişi, sorumlu hekim, eşi, annesi, babası, aile hekimi, acil kişi"),
    (Birth, "doğum tarihi, d tarihi, doğ tar"),
    (Day, "tarih, yatış tarihi, taburcu tarihi, çıkış tarihi, muayene tarihi, randevu tarihi, kontrol tarihi, \
        randevu, ameliyat tarihi, işlem tarihi, giriş tarihi, tetkik tarihi, rapor tarihi, kabul tarihi, \
        ölüm tarihi, sonraki randevu"),
    (Phone, "telefon numarası, telefon no, tel no, cep telefonu, cep tel, gsm, irtibat, irtibat no, ev telefonu, \
        irtibat telefonu, iletişim, iletişim no, cep no, iş telefonu"),
    (Fax, "faks no, belgegeçer, faks numarası"),
    (Record, "hasta no, hasta numarası, dosya no, dosya numarası, protokol no, protokol numarası, hasta dosya no, \
        arşiv no, hasta protokol no, hasta id, kayıt no"),
    (Case, "başvuru no, başvuru numarası, numune no, rapor no, reçete no, sevk no, istem no, barkod no, randevu no, \
        takip no, takip numarası, yatış no, laboratuvar no, örnek no, talep no"),
    (Plan, "sgk no, sigorta no, poliçe no, sigorta numarası, sosyal güvenlik no, poliçe numarası, ssk no, \
        sgk numarası, sigortalı no, bağkur no, sosyal güvenlik numarası"),
    (Citizen, "tc kimlik no, tc kimlik numarası, tc no, tckn, kimlik no, kimlik numarası, pasaport no, \
        vatandaşlık no, vergi no, pasaport numarası"),
    (Account, "hesap no, hesap numarası, fatura no, banka hesap no, iban no, müşteri no"),
    (License, "ehliyet no, diploma tescil no, diploma no, ehliyet, tescil no, sürücü belgesi no"),
    (Device, "seri no, seri numarası, cihaz no, cihaz seri no"),
    (Vehicle, "plaka, araç plakası, plaka no"),
    (Address, "adresi, ev adresi, ikamet, ikamet adresi, ikametgah"),
    (City, "şehir, ilçe, doğum yeri, mahalle"),
    (Zip, "posta kodu"),
];

#[rustfmt::skip]
pub(super) const SWEDISH: Language = &[
    (Name, "patientens namn, patientnamn, efternamn, förnamn, för och efternamn, fullständigt namn, flicknamn, \
        namn på patienten, tilltalsnamn, barnets namn, mellannamn"),
    (PerhapsName, "namn, läkare, ansvarig läkare, kontaktperson, sjuksköterska, anhörig, närmast anhörig, \
        husläkare, patientansvarig läkare, dotter, god man, närstående, remittent, barnmorska, behandlande läkare"),
    (Birth, "födelsedatum, född, födelsedag, födelsedata, född den"),
    (Day, "inskrivningsdatum, utskrivningsdatum, besöksdatum, nästa besök, återbesök, operationsdatum, \
        tid för besök, inskriven, utskriven, provtagningsdatum, remissdatum, dödsdatum, undersökningsdatum"),
    (Phone, "telefonnr, mobilnr, telefon hem, tfn, telefon arbete, tel nummer, tel hem, mobil telefon, \
        telefon dagtid, mob nr, tel mobil"),
    (Record, "journalnummer, patientnummer, journalnr, patient id, patientnr"),
    (Case, "remissnummer, remissid, ärendenummer, provnummer, provnr, remissnr, ärendenr, beställningsnummer, \
        vårdtillfälle, labnr, recept nr"),
    (Plan, "försäkringsnummer, försäkringsnr"),
    (Citizen, "personnummer, person nr, samordningsnummer, reservnummer, pnr, passnummer, id kort, födelsenummer, \
        pass nr, id kortsnummer"),
    (Account, "kontonummer, bankkonto, bankgiro, fakturanummer, fakturanr, kundnummer, konto nr, plusgiro"),
    (License, "körkort, körkortsnummer, legitimationsnummer, förskrivarkod"),
    (Device, "serienummer, serienr, tillverkningsnummer"),
    (Vehicle, "registreringsnummer, regnr, bilnummer"),
    (Address, "adress, gatuadress, hemadress, bostadsadress, postadress, folkbokföringsadress"),
    (City, "postort, kommun, bostadsort, födelseort, postnummer och ort"),
    (Zip, "postnummer, postnr"),
];

#[rustfmt::skip]
pub(super) const DANISH: Language = &[
    (Name, "patientens navn, patientnavn, efternavn, fornavn, fulde navn, for og efternavn, navn på patient, \
        mellemnavn, pigenavn, barnets navn"),
    (PerhapsName, "navn, læge, praktiserende læge, egen læge, pårørende, nærmeste pårørende, sygeplejerske, \
        ansvarlig læge, ægtefælle, datter, værge, kontaktlæge, henvisende læge, jordemoder, behandlende læge"),
    (Birth, "fødselsdato, født, født den, fødselsdag, fødselsdata, fødd"),
    (Day, "dato, indlæggelsesdato, udskrivelsesdato, undersøgelsesdato, næste aftale, operationsdato, indlagt, \
        udskrevet, næste tid, prøvedato, henvisningsdato, dødsdato, konsultationsdato"),
    (Phone, "telefonnummer, tlf, tlf nr, mobilnummer, mobiltlf, telefon nr, tlf privat, tlfnummer, fastnet, \
        tlf arbejde"),
    (Record, "journalnummer, journalnr, patientnummer, patientid"),
    (Case, "sagsnummer, sagsnr, rekvisitionsnummer, prøvenummer, henvisningsnummer, henvisningsnr, prøvenr, \
        ordrenummer, receptnr, rekvisitionsnr, indlæggelsesnummer"),
    (Plan, "forsikringsnummer, policenummer, sygesikringsnummer, sygesikring, policenr, forsikringsnr, \
        sundhedskort, medlemsnummer, sygesikringskort"),
    (Citizen, "cpr nummer, cpr, cpr nr, cpr nummeret, personnummer, pasnummer, pas nr, patient cpr"),
    (Account, "kontonummer, bankkonto, fakturanummer, kontonr, reg og kontonr, faktura nr, kundenummer, kundenr"),
    (License, "kørekort, kørekortnummer, autorisationsid, ydernummer, autorisationsnummer, ydernr"),
    (Device, "serienummer, serienr"),
    (Vehicle, "nummerplade, registreringsnummer"),
    (Address, "bopæl, hjemmeadresse, bopælsadresse, folkeregisteradresse"),
    (City, "kommune, bopælskommune, fødested, postnr og by, postnr by, postnummer og by"),
    (Zip, "postnummer, postnr"),
];

#[rustfmt::skip]
pub(super) const NORWEGIAN: Language = &[
    (Name, "pasientens navn, pasientnavn, etternavn, fornavn, fullt navn, navn på pasient, for og etternavn, \
        mellomnavn, navn på barnet, etternavn fornavn"),
    (PerhapsName, "pasient, lege, fastlege, pårørende, nærmeste pårørende, sykepleier, behandlende lege, \
        ansvarlig lege, ektefelle, datter, sønn, kontaktsykepleier, verge, behandler, henvisende lege"),
    (Birth, "fødselsdato, født, f dato, fødselsdag"),
    (Day, "innleggelsesdato, utskrivningsdato, undersøkelsesdato, neste time, timeavtale, operasjonsdato, innlagt, \
        utskrevet, prøvedato, henvisningsdato, dødsdato, neste kontroll, konsultasjonsdato"),
    (Phone, "telefonnummer, tlf, mobilnummer, mob, mobiltelefon, tlf jobb, tlf hjemme"),
    (Record, "pasientnummer, pasient id, journal nr, pasientnr, npr id"),
    (Case, "saksnummer, henvisningsnummer, prøvenummer, rekvisisjonsnummer, ordrenummer, saksnr, prøve nr, sak nr, \
        referansenummer, rekvisisjonsnr"),
    (Plan, "forsikringsnummer, polisenummer, helseforsikring, polisenr, helsetrygdkort, medlemsnummer"),
    (Citizen, "fødselsnummer, fødselsnr, personnummer, d nummer, passnummer, fnr, fødsels og personnummer, \
        fødselsnummer 11 siffer, hjelpenummer"),
    (Account, "kontonummer, bankkonto, fakturanummer, kid nummer, kundenummer"),
    (License, "førerkort, førerkortnummer, hpr nummer, hpr nr, hpr"),
    (Device, "serienummer, serienr"),
    (Vehicle, "registreringsnummer, bilnummer, regnr"),
    (Address, "bostedsadresse, hjemmeadresse, gateadresse, bosted, folkeregistrert adresse"),
    (City, "poststed, sted, fødested, hjemkommune, postnr og sted, postnummer og sted"),
    (Zip, "postnummer, postnr"),
];

#[rustfmt::skip]
pub(super) const FINNISH: Language = &[
    (Name, "potilaan nimi, sukunimi, etunimi, etunimet, koko nimi, lapsen nimi, suku ja etunimi, \
        sukunimi ja etunimi, asiakkaan nimi, sukunimi etunimi, omaisen nimi, tyttönimi, lääkärin nimi"),
    (PerhapsName, "nimi, potilas, lääkäri, hoitava lääkäri, omainen, lähiomainen, hoitaja, yhteyshenkilö, \
        omahoitaja, puoliso, äiti, isä, tytär, poika, edunvalvoja, omalääkäri, lähettävä lääkäri"),
    (Birth, "syntymäaika, syntynyt, synt, syntymäpäivä, s aika"),
    (Day, "päivämäärä, pvm, tulopäivä, kotiutuspäivä, käyntipäivä, seuraava käynti, leikkauspäivä, ajanvaraus, \
        päiväys, seuraava aika, näytteenottopäivä, kuolinpäivä, tutkimuspäivä, vastaanottoaika, hoitojakso"),
    (Phone, "puhelin, puhelinnumero, puh, puh nro, matkapuhelin, kännykkä, puhelinnro, gsm, matkapuh, puhelin koti, \
        gsm numero, kotipuhelin, työpuhelin, puh koti, puh nr"),
    (Fax, "faksi, faksinumero"),
    (Record, "potilasnumero, potilastunnus, potilas id, potilastunniste, potilasnro, asiakasnumero, arkistonumero, \
        asiakastunnus"),
    (Case, "lähetenumero, näytenumero, lähetetunnus, hoitojakson numero, asiointinumero, tutkimusnumero, \
        näytetunnus, käyntinumero, lausuntonumero, asianumero, reseptinumero, tilausnumero, diaarinumero"),
    (Plan, "vakuutusnumero, vakuutusnro, kela kortti, kela kortin numero, vakuutustunnus, jäsennumero"),
    (Citizen, "henkilötunnus, hetu, sosiaaliturvatunnus, sotu, passin numero, hlötunnus, henkilönumero, \
        passinumero, potilaan henkilötunnus, henkilökortti"),
    (Account, "tilinumero, pankkitili, laskun numero, viitenumero, tilinro, laskunumero"),
    (License, "ajokortti, ajokortin numero, sv numero, rekisteröintinumero, terhikki"),
    (Device, "sarjanumero, sarjanro, laitenumero"),
    (Vehicle, "rekisterinumero, rekisteritunnus, rek nro"),
    (Address, "osoite, katuosoite, kotiosoite, lähiosoite, postiosoite"),
    (City, "kaupunki, kotikunta, postitoimipaikka, paikkakunta, syntymäpaikka, kunta, kotipaikka"),
    (Zip, "postinumero, postinro"),
];

#[rustfmt::skip]
pub(super) const CZECH: Language = &[
    (Name, "jméno pacienta, příjmení, jméno a příjmení, příjmení a jméno, rodné příjmení, jméno pacientky, \
        celé jméno, příjmení jméno, jméno příjmení, jméno a příjmení pacienta, meno a priezvisko, priezvisko, \
        meno pacienta, krstné meno, jméno otce, jméno matky, jméno dítěte"),
    (PerhapsName, "jméno, pacient, pacientka, ošetřující lékař, praktický lékař, lékař, kontaktní osoba, sestra, \
        meno, ošetrujúci lekár, manžel, manželka, otec, dcera, obvodní lékař, lékařka, odesílající lékař, \
        zákonný zástupce, opatrovník"),
    (Birth, "datum narození, narozen, narozena, datum nar, dat nar, dátum narodenia, narodený, narodená, narození, \
        d nar"),
    (Day, "datum přijetí, datum propuštění, datum vyšetření, datum operace, termín, příští kontrola, \
        datum návštěvy, dátum, dátum prijatia, dátum prepustenia, datum odběru, datum vystavení, datum úmrtí, \
        přijat, propuštěn, dátum vyšetrenia"),
    (Phone, "telefonní číslo, tel č, tel číslo, mobilní telefon, telefónne číslo, tel kontakt, č tel, mobil č, \
        číslo telefonu, telefon domů, telefonní kontakt, tel domů"),
    (Record, "číslo chorobopisu, číslo karty, číslo pacienta, chorobopis č, č chorobopisu, id pacienta, \
        číslo dokumentace, číslo zdravotnej dokumentácie, kartotéční číslo, chorobopis, č karty"),
    (Case, "číslo žádanky, číslo žádosti, číslo vzorku, číslo receptu, kód receptu, číslo případu, \
        číslo hospitalizace, č j, číslo objednávky, č žádanky, číslo vzorky, č protokolu, číslo protokolu, \
        identifikátor ereceptu"),
    (Plan, "číslo pojištěnce, č pojištěnce, číslo pojistky, číslo poistenca, pojistka č, č pojistky, \
        číslo pojistné smlouvy, č poistenca"),
    (Citizen, "rodné číslo, r č, číslo občanského průkazu, číslo op, občanský průkaz, číslo pasu, \
        číslo občianskeho preukazu, č op, rod č, rod číslo, občiansky preukaz"),
    (Account, "číslo účtu, bankovní účet, č účtu, variabilní symbol, číslo faktury, iban účtu, faktura č"),
    (License, "řidičský průkaz, číslo řidičského průkazu, ičz, ičp, vodičský preukaz, evidenční číslo"),
    (Device, "sériové číslo, výrobní číslo, výrobné číslo, sér č, č přístroje"),
    (Vehicle, "spz, státní poznávací značka, registrační značka, evidenčné číslo vozidla"),
    (Address, "adresa, bydliště, trvalé bydliště, ulice, adresa bydliště, bytem, bydlisko, trvalý pobyt, \
        adresa trvalého bydliště, ulica"),
    (City, "město, obec, místo narození, miesto narodenia, psč a město, psč obec"),
    (Zip, "psč, poštovní směrovací číslo"),
];

#[rustfmt::skip]
pub(super) const ROMANIAN: Language = &[
    (Name, "nume și prenume, numele pacientului, nume pacient, numele și prenumele, prenume, nume de familie, \
        nume prenume, numele pacientei, nume complet, prenumele, nume si prenume pacient, numele de familie, \
        numele mamei, numele tatălui"),
    (PerhapsName, "nume, numele, pacientă, medic curant, medic de familie, asistentă, persoană de contact, \
        aparținător, medicul curant, soț, soție, tata, fiu, fiică, medic trimițător, reprezentant legal, asigurat"),
    (Birth, "data nașterii, născut la, născută la, născut, născută, născut la data de"),
    (Day, "data internării, data externării, data consultației, data examinării, programare, următoarea programare, \
        data recoltării, data controlului, internat la, externat la, data operației, data decesului, \
        data eliberării, data vizitei"),
    (Phone, "număr de telefon, nr de telefon, nr telefon, nr tel, telefon mobil, număr telefon, numărul de telefon, \
        tel mobil, telefon fix, telefon contact"),
    (Record, "număr dosar, nr dosar, număr fișă, nr fișă, foaie de observație, nr foaie observație, fo nr, nr fo, \
        id pacient, număr pacient, fișa nr, nr de înregistrare, foaia de observație nr, foaie de observație nr, \
        nr fișei, dosar nr, numărul dosarului, cod pacient"),
    (Case, "număr bilet de trimitere, nr bilet de trimitere, număr rețetă, nr rețetă, cod probă, nr caz, număr caz, \
        serie și număr rețetă, nr probă, nr cerere, cod cerere, număr înregistrare, număr de referință, nr buletin, \
        nr comandă"),
    (Plan, "număr asigurat, nr asigurat, card de sănătate, cod asigurat, număr poliță, nr poliță, poliță nr, \
        card național de sănătate, polița, nr card sănătate"),
    (Citizen, "cnp, cod numeric personal, serie și număr ci, carte de identitate, serie ci, pașaport, nr pașaport, \
        seria și numărul, ci seria, act de identitate, nr ci, serie buletin"),
    (Account, "cont bancar, număr cont, nr cont, cont iban, factura nr, număr factură, nr factură"),
    (License, "permis de conducere, parafă, cod parafă, nr permis, parafa medicului, cod parafă medic"),
    (Device, "număr de serie, serie dispozitiv, număr serie, nr serie, serie aparat"),
    (Vehicle, "număr de înmatriculare, nr înmatriculare, nr auto"),
    (Address, "domiciliu, domiciliul, strada, adresă, adresa de domiciliu, domiciliat în, locuiește în"),
    (City, "oraș, localitate, județ, locul nașterii, localitatea, orașul, județul, comuna"),
    (Zip, "cod poștal"),
];

#[rustfmt::skip]
pub(super) const HUNGARIAN: Language = &[
    (Name, "beteg neve, a beteg neve, családi név, vezetéknév, keresztnév, utónév, születési név, teljes név, \
        anyja neve, páciens neve, biztosított neve, leánykori név, anyja születési neve, orvos neve, gyermek neve, \
        hozzátartozó neve"),
    (PerhapsName, "név, beteg, páciens, kezelőorvos, háziorvos, orvos, ápoló, hozzátartozó, kapcsolattartó, \
        kezelőorvosa, beutaló orvos, operatőr, felesége, férje, törvényes képviselő, gondviselő, értesítendő"),
    (Birth, "születési dátum, született, szül, szül dátum, születési idő, szül idő, születési ideje, sz dátum, \
        születés ideje"),
    (Day, "dátum, felvétel dátuma, elbocsátás dátuma, vizsgálat dátuma, következő vizit, műtét dátuma, \
        felvétel napja, időpont, vizsgálat ideje, felvétel ideje, mintavétel ideje, távozás dátuma, \
        halálozás dátuma"),
    (Phone, "telefonszám, telefonszáma, tel szám, mobilszám, mobiltelefon, tel sz, telefonszám mobil, elérhetőség, \
        értesítési telefonszám, otthoni telefon"),
    (Fax, "faxszám"),
    (Record, "törzsszám, kartonszám, betegszám, betegazonosító, kórlapszám, naplószám, törzskönyvi szám, \
        kórrajzszám, ellátási azonosító, páciens azonosító"),
    (Case, "esetszám, beutaló száma, mintaszám, vényszám, ügyszám, minta azonosító, iktatószám, ügyiratszám, \
        vény azonosító, vizsgálat azonosító, lelet azonosító, hivatkozási szám"),
    (Plan, "biztosítási szám, kötvényszám, biztosítási kötvény, taj szám, taj, taj sz, eu kártya szám"),
    (Citizen, "személyi szám, személyi igazolvány, személyi igazolvány szám, adóazonosító, adóazonosító jel, \
        útlevélszám, szig szám, személyi azonosító, szig, igazolványszám"),
    (Account, "számlaszám, bankszámlaszám, bankszámla, számla száma, ügyfélszám"),
    (License, "jogosítvány, jogosítvány száma, orvosi pecsétszám, pecsétszám, pecsét száma, \
        működési nyilvántartási szám, vezetői engedély"),
    (Device, "sorozatszám, gyári szám, szériaszám"),
    (Vehicle, "rendszám, forgalmi rendszám"),
    (Address, "lakcím, lakhely, lakcíme, állandó lakcím, értesítési cím, tartózkodási hely, lakóhely"),
    (City, "város, település, születési hely, lakhelye, szül hely, helység"),
    (Zip, "irányítószám, ir szám, irsz"),
];

#[rustfmt::skip]
pub(super) const VIETNAMESE: Language = &[
    (Name, "họ và tên, họ tên, họ tên bệnh nhân, tên bệnh nhân, họ và tên bệnh nhân, họ tên người bệnh, \
        tên người bệnh, họ tên bố, họ tên mẹ, họ tên bác sĩ, tên mẹ, tên bố, họ và tên người bệnh, tên đầy đủ, \
        họ tên người nhà, chủ tài khoản"),
    (PerhapsName, "bệnh nhân, bác sĩ, bác sĩ điều trị, điều dưỡng, người nhà, người liên hệ, bs điều trị, \
        người bệnh, thân nhân, phẫu thuật viên, bs, vợ, chồng, con gái, con trai, người giám hộ, bác sĩ chỉ định"),
    (Birth, "ngày sinh, ngày tháng năm sinh, sinh ngày, ngày năm sinh"),
    (Day, "ngày khám, ngày nhập viện, ngày vào viện, ngày ra viện, ngày xuất viện, ngày tái khám, lịch hẹn, \
        tái khám, ngày hẹn, ngày phẫu thuật, hẹn tái khám, ngày xét nghiệm, ngày mổ, ngày cấp, vào viện, ra viện, \
        ngày chỉ định, ngày tử vong, ngày lấy mẫu"),
    (Phone, "số điện thoại, điện thoại, đt, sđt, số đt, di động, điện thoại di động, điện thoại liên hệ, \
        số di động, số liên hệ, sđt người nhà, điện thoại nhà riêng, zalo, sđt liên hệ, đtdđ"),
    (Record, "số bệnh án, mã bệnh nhân, số hồ sơ, mã bn, số hồ sơ bệnh án, mã hồ sơ, số vào viện, mã số bệnh nhân, \
        mã y tế, mã bệnh án, mã người bệnh, số hsba, mã hsba, số nhập viện, hồ sơ số"),
    (Case, "số phiếu, mã phiếu, mã đơn thuốc, số phiếu xét nghiệm, mã mẫu, mã xét nghiệm, mã tiếp nhận, \
        số tiếp nhận, mã lượt khám, mã đặt lịch, mã lịch hẹn, số giấy chuyển viện, mã đặt khám, mã đơn, số ca, \
        số biên lai"),
    (Plan, "số bhyt, mã thẻ bhyt, số thẻ bhyt, bhyt, số bảo hiểm, số thẻ bảo hiểm y tế, mã bhyt, thẻ bhyt, \
        bảo hiểm y tế, số hợp đồng bảo hiểm, thẻ bảo hiểm y tế, mã số bhxh, số bhxh, bhxh, số sổ bhxh, mã số bhyt, \
        bhyt số"),
    (Citizen, "cccd, cmnd, số cccd, số cmnd, căn cước công dân, số căn cước, chứng minh nhân dân, hộ chiếu, \
        số hộ chiếu, số định danh cá nhân, cmnd cccd, số căn cước công dân, cccd số, căn cước, số cmnd cccd, \
        cccd cmnd, mã số thuế, số định danh"),
    (Account, "số tài khoản, stk, tài khoản ngân hàng, tài khoản, số tk, mã hóa đơn, số hóa đơn"),
    (License, "giấy phép lái xe, số giấy phép lái xe, số chứng chỉ hành nghề, chứng chỉ hành nghề, cchn, số cchn, \
        gplx"),
    (Device, "số sê ri, số máy, số serial"),
    (Vehicle, "biển số xe, biển số, biển kiểm soát"),
    (Address, "địa chỉ, nơi ở, địa chỉ thường trú, địa chỉ liên hệ, địa chỉ nhà, nơi cư trú, thường trú, \
        hộ khẩu thường trú, địa chỉ hiện tại, chỗ ở hiện tại"),
    (City, "thành phố, nơi sinh, tỉnh, tỉnh thành, quê quán, quận huyện"),
    (Zip, "mã bưu điện, mã bưu chính"),
];

#[rustfmt::skip]
pub(super) const INDONESIAN: Language = &[
    (Name, "nama pasien, nama lengkap, nama lengkap pasien, nama ibu, nama ayah, nama belakang, nama depan, \
        nama dokter, nama ibu kandung, nama pesakit, nama penuh, nama suami, nama istri, nama penanggung jawab, \
        nama bayi, nama peserta"),
    (PerhapsName, "nama, pasien, dokter, dpjp, dokter penanggung jawab, perawat, penanggung jawab, keluarga, \
        pesakit, doktor, dokter perujuk, dokter pengirim, wali, suami, istri, bidan, kontak darurat"),
    (Birth, "tanggal lahir, tgl lahir, tarikh lahir, tanggal kelahiran, lahir"),
    (Day, "tanggal, tgl, tanggal masuk, tanggal keluar, tanggal periksa, tanggal kontrol, tgl masuk, tgl keluar, \
        tanggal operasi, tarikh, tarikh masuk, tarikh discaj, jadwal kontrol, tgl kontrol, tgl periksa, \
        tanggal kunjungan, tanggal pemeriksaan, tanggal meninggal, temujanji, tarikh temujanji"),
    (Phone, "telepon, nomor telepon, no telepon, no telp, telp, no hp, nomor hp, nomor ponsel, no wa, nomor wa, \
        no tel, nombor telefon, no telefon, ponsel, no handphone, no kontak, nomor handphone, no hp pasien, hp wa"),
    (Record, "no rekam medis, nomor rekam medis, no rm, rekam medis, nomor rm, no pasien, nomor pasien, \
        nombor pendaftaran, no pendaftaran, no pesakit, no rekam medik, nrm, nomor rekam medik, no mr, id pasien, \
        no rm pasien"),
    (Case, "no registrasi, nomor registrasi, no rujukan, nomor rujukan, no resep, no sampel, no antrian, nomor sep, \
        no sep, no lab, kode booking, nomor resep, no kunjungan, nomor surat rujukan, no laporan, no klaim, \
        nomor sampel, no surat rujukan"),
    (Plan, "no bpjs, nomor bpjs, nomor kartu bpjs, no kartu bpjs, bpjs, no polis, nomor polis, no peserta, \
        nomor peserta, nomor kartu peserta, no asuransi, no kartu, no kartu peserta, no jkn, nomor jkn, \
        nomor asuransi, no kis"),
    (Citizen, "nik, no ktp, nomor ktp, ktp, nomor induk kependudukan, no kad pengenalan, no kp, no paspor, \
        nomor paspor, no nik, no kk, nomor kk, npwp, nomor nik, no pasport, no ic, kartu keluarga"),
    (Account, "no rekening, nomor rekening, no rek, no akaun, nomor faktur, no invoice, no tagihan"),
    (License, "no sim, nomor sim, no sip, nomor sip, no str, nomor str"),
    (Device, "nomor seri, no seri, no siri, nomor alat"),
    (Vehicle, "nomor polisi, no polisi, plat nomor, nopol, no plat"),
    (Address, "alamat, alamat rumah, tempat tinggal, alamat pasien, alamat lengkap, alamat domisili, alamat ktp"),
    (City, "tempat lahir, kabupaten, kecamatan, kelurahan, kota tinggal, bandar"),
    (Zip, "kode pos, poskod"),
];

#[rustfmt::skip]
pub(super) const TAGALOG: Language = &[
    (Name, "pangalan ng pasyente, buong pangalan, apelyido, unang pangalan, pangalan ng ina, pangalan ng ama, \
        pangalan ng doktor, pangalan ng asawa, pangalan ng anak, gitnang pangalan, non pasyan, non ak siyati, \
        siyati, non konplè"),
    (PerhapsName, "pangalan, pasyente, bantay, tagapag alaga, pasyan, doktè, enfimyè"),
    (Birth, "petsa ng kapanganakan, kapanganakan, kaarawan, ipinanganak, araw ng kapanganakan, dat nesans, \
        dat li fèt"),
    (Day, "petsa, petsa ng admisyon, petsa ng paglabas, susunod na appointment, petsa ng konsulta, \
        petsa ng operasyon, petsa ng pagpasok, petsa ng appointment, randevou, dat randevou, dat admisyon"),
    (Phone, "numero ng telepono, telepono, selpon, numero ng selpon, numero ng cellphone, numero ng contact, \
        telefòn, nimewo telefòn, selilè"),
    (Record, "numero ng pasyente, numero ng rekord, numero ng ospital, numero ng chart, numero ng kaso, \
        nimewo dosye, dosye, nimewo pasyan, dosye medikal"),
    (Case, "numero ng resibo, numero ng reseta, numero ng referral, numero ng sample, nimewo ka, nimewo referans"),
    (Plan, "philhealth, philhealth no, philhealth number, numero ng philhealth, numero ng seguro, \
        pin ng philhealth, philhealth id, nimewo asirans, nimewo manm, philhealth pin"),
    (Citizen, "numero ng sss, sss no, umid, numero ng pasaporte, gsis, gsis no, philsys, numero ng id, \
        nimewo paspò, nimewo idantite, sss number, philsys id, senior citizen id"),
    (Account, "numero ng account, numero ng bank account, nimewo kont"),
    (License, "lisensya, numero ng lisensya, prc no, prc license no, lisensya bilang"),
    (Device, "numero ng serye, serial bilang"),
    (Vehicle, "numero ng plaka, plaka no"),
    (Address, "tirahan, address ng pasyente, tahanan, nakatira sa, adrès, adrès kay"),
    (City, "lungsod, lugar ng kapanganakan, barangay"),
    (Zip, "zip code ng tirahan, kòd postal"),
];
