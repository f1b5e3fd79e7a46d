import type { LanguageTable } from "./language.ts";

/** French, as data. */
export const french: LanguageTable = {
  name: "fr",
  stop:
    "un une le la les l' du des de d' ce cet cette ces et ou mais donc or ni car que qui quoi dont quel quelle quels quelles comment pourquoi quand si comme " +
    "je j' me m' moi mon ma mes nous notre nos vous votre vos tu te t' toi ton ta tes il elle on se s' son sa ses ils elles leur leurs y en ici " +
    "suis es est sommes etes sont etait etaient etre ai as a avons avez ont avoir fait faire peux peut pouvez veux veut dois doit faut c'est qu'est n'est j'ai " +
    "au aux dans sur sous par pour avec sans vers chez entre apres avant depuis jusqu'a " +
    "ne n' pas non oui plus tres aussi tout tous toute toutes chaque s'il plait svp merci bonjour maintenant donne donne-moi dis dis-moi montre fais mets",
  endings: "ations>at ation>at ements>ement iques>iqu ique>iqu eux>eu aux>al ees>e ee>e er>e ez>e es>e s> x>",
  numbers:
    "zero:0 deux:2 trois:3 quatre:4 cinq:5 six:6 sept:7 huit:8 neuf:9 dix:10 onze:11 douze:12 douzaine:12 treize:13 quatorze:14 quinze:15 seize:16 " +
    "vingt:20 trente:30 quarante:40 cinquante:50 soixante:60",
  digits: "1 234,5",
  one: "un une",
  scales:
    "cent:100 cents:100 mille:1000 million:1000000 millions:1000000 milliard:1000000000 milliards:1000000000",
  and: "et ou ainsi &",
  articles: "le la les l' un une",
  percent: "pourcent pourcentage",
  decimal: "decimal decimale fraction",
  no: "ne pas non sans eteins eteindre eteignez desactive desactiver jamais",
  denies: "ne n' pas jamais",
  affirms: "oublie oubliez oublier seulement sais",
  inNames: "de du des la le les",
  says: "que disant dit",
  like: "comme,p. ex.,par exemple,par ex.",
  before:
    "de:de,depart,origine,source,expediteur,from,origin depuis:depart,origine,from a:a,destination,ville,lieu,destinataire,to,city,time,heure vers:destination,to " +
    "dans:piece,salle,lieu,pays,room,city,location en:pays,langue,mois,country,language,month pour:duree,personne,duration le:date,jour,day " +
    "avec:participants,invites,attendee,guests sur:sujet,theme,topic par:auteur,artiste,author,artist titre:titre,title",
  times:
    "aujourd'hui demain hier lundi mardi mercredi jeudi vendredi samedi dimanche week-end semaine mois annee jour " +
    "janvier fevrier mars avril mai juin juillet aout septembre octobre novembre decembre printemps ete automne hiver matin soir midi minuit",
  kinds: {
    date: "date jour day",
    time: "heure temps time hour",
    text: "texte contenu message note text body content",
  },
};
